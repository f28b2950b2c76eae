import type { ErrorReason } from '@trunkline/gateway/src/core/base/errors/errors.ts'

export interface Usage {
  readonly prompt_tokens: number
  readonly completion_tokens: number
  readonly total_tokens: number
}

export interface Detail {
  readonly type: string
  readonly [field: string]: unknown
}

/** A JSON reply, a chunk or an error of either interface, with the fields that the guarantees check. */
export interface Body {
  readonly id?: string
  readonly usage?: Usage | null
  readonly choices?: readonly Choice[]
  readonly detail?: unknown
  readonly reason?: string
  readonly msg?: string
  readonly error?: {
    readonly code: ErrorReason
    readonly message: string
    readonly type: string
    readonly param?: string
  }
}

interface Choice {
  readonly delta?: Message
  readonly message?: Message
  readonly finish_reason: string | null
}

interface Message {
  readonly role?: string
  readonly content?: string | null
  readonly reasoning_content?: string
  readonly tool_calls?: readonly unknown[]
}

/** The complete result of a call, in the same form for JSON and streams of both interfaces. */
export interface Reply {
  readonly status: number
  readonly headers: Headers
  /** The body as it was received. */
  readonly raw: string
  /** The JSON body, or the chunks without `[DONE]`. */
  readonly bodies: readonly Body[]
  readonly isDone: boolean
  readonly text: string
  readonly reasoning: string
  readonly finishes: readonly string[]
  readonly usage: Usage | undefined
  readonly details: readonly Detail[]
  /** The reason of the failure, from the error body or the error frame. */
  readonly reason: string | undefined
}

const KEEP_ALIVE = ': keep-alive'
const DONE = 'data: [DONE]'

/**
 * Parses a reply strictly: each event of a stream must be one `data: ` line and a blank line.
 *
 * @throws if the stream ends amid an event or contains anything else
 */
export function readReply(response: Response, raw: string): Reply {
  const { status, headers } = response
  const isStream = headers.get('content-type')?.startsWith('text/event-stream') === true
  const events = isStream ? raw.split('\n\n') : []
  if (isStream && events.pop() !== '') throw new Error(`the stream ends amid an event: ${raw}`)
  const frames = events.filter((event) => event !== KEEP_ALIVE)
  const isDone = frames.at(-1) === DONE
  const bodies = isStream ? (isDone ? frames.slice(0, -1) : frames).map(frameBody) : [JSON.parse(raw) as Body]

  const choices = bodies.flatMap((body) => body.choices ?? [])
  const messages = choices.map(({ delta, message }) => delta ?? message ?? {})
  const failed = bodies.find(({ error, reason }) => error !== undefined || reason !== undefined)
  return {
    status,
    headers,
    raw,
    bodies,
    isDone,
    text: messages.map(({ content }) => content ?? '').join(''),
    reasoning: messages.map(({ reasoning_content }) => reasoning_content ?? '').join(''),
    finishes: choices.flatMap(({ finish_reason }) => finish_reason ?? []),
    usage: bodies.find(({ usage }) => usage)?.usage ?? undefined,
    details: bodies.flatMap(({ detail }) => (typeof detail === 'object' ? (detail as Detail) : [])),
    reason: failed?.reason ?? failed?.error?.code,
  }
}

function frameBody(event: string): Body {
  const [, json = ''] = /^data: ([^\n\r]+)$/.exec(event) ?? []
  return JSON.parse(json) as Body
}
