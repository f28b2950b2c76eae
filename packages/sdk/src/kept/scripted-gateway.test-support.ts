import { vi } from 'vitest'
import { settle } from '../transport/open-body.test-support.ts'

const encoder = new TextEncoder()
export const CALL_ID = 'call-1'

export function chunk(content: string | null, finish_reason: string | null = null): string {
  return JSON.stringify({ id: 'talk-1', choices: [{ index: 0, delta: { content }, finish_reason }] })
}

/** The whole reply "Hé🎉lo" with its end, as the data of its events. */
export const EVENTS: readonly string[] = [
  chunk('Hé'),
  chunk('🎉'),
  chunk('lo'),
  chunk(null, 'stop'),
  JSON.stringify({
    id: 'talk-1',
    choices: [],
    usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
  }),
  '[DONE]',
]

/** How the connection of one stream ends. */
export interface Cut {
  /** After how many bytes; without it, after everything. */
  readonly bytes?: number
  /** Whether it breaks, is closed, or stays open in silence. */
  readonly by?: 'break' | 'close' | 'silence'
}

interface Script {
  readonly events?: readonly string[]
  /** One for each stream, in their order; further ones are whole. */
  readonly cuts?: readonly Cut[]
  /** Answers a request before the gateway does, or undefined; it may also throw. */
  readonly intercept?: (
    request: Request,
    index: number,
  ) => Response | undefined | Promise<Response | undefined>
  readonly isRunning?: boolean
  /** Whether streams begin with the first event whatever the client has. */
  readonly repeatsAll?: boolean
  readonly hasIds?: boolean
}

/** A gateway with one kept call, as far as its clients see it. It counts how often an agent would run. */
export class ScriptedGateway {
  readonly requests: Request[] = []
  readonly keys = new Set<string>()
  stops = 0
  #streams = 0
  readonly #script: Script

  constructor(script: Script = {}) {
    this.#script = script
  }

  readonly fetch = vi.fn(async (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
    const request = new Request(input, init)
    request.signal.throwIfAborted()
    this.requests.push(request)
    const answer = await this.#script.intercept?.(request, this.requests.length - 1)
    if (answer !== undefined) return answer
    const { pathname } = new URL(request.url)
    const headers = { 'x-call-id': CALL_ID }
    if (pathname.endsWith('/chat')) this.keys.add(request.headers.get('idempotency-key') ?? '')
    if (pathname.endsWith('/stop')) {
      this.stops++
      return Response.json({ code: 0, msg: 'Success', data: { call_id: CALL_ID, outcome: null } })
    }
    if (pathname.endsWith('/reply')) {
      const { isRunning = false } = this.#script
      if (request.method === 'DELETE') return new Response(null, { status: 204 })
      if (!isRunning) return Response.json(REPLY, { headers })
      const body = { code: 0, msg: 'Success', data: { call_id: CALL_ID } }
      return Response.json(body, { status: 202, headers: { 'retry-after': '3' } })
    }
    if (pathname.endsWith('/chat') && !(await request.clone().json()).stream)
      return Response.json(REPLY, { headers })
    return new Response(this.#body(request), { headers: { ...headers, 'content-type': 'text/event-stream' } })
  })

  /** The requests as `METHOD path`, with the cursor of a resumed stream. */
  get log(): string[] {
    return this.requests.map(({ method, url, headers }) => {
      const cursor = headers.get('last-event-id')
      return `${method} ${new URL(url).pathname.slice('/api/v1'.length)}${cursor === null ? '' : ` ${cursor}`}`
    })
  }

  #body(request: Request): ReadableStream<Uint8Array> {
    const { events = EVENTS, cuts = [], repeatsAll = false, hasIds = true } = this.#script
    const after = repeatsAll ? 0 : Number(request.headers.get('last-event-id') ?? 0)
    const { bytes, by = 'break' } = cuts[this.#streams++] ?? { by: 'close' }
    const whole = streamOf(events, { after, hasIds })
    let isSent = false
    return new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          if (!isSent) {
            isSent = true
            const sent = whole.subarray(0, bytes)
            if (sent.length > 0) return controller.enqueue(sent)
          }
          if (by === 'break')
            controller.error(Object.assign(new TypeError('terminated'), { code: 'ECONNRESET' }))
          else if (by === 'close') controller.close()
          else return new Promise(() => {})
        },
      },
      { highWaterMark: 0 },
    )
  }
}

export const REPLY = {
  id: 'talk-1',
  object: 'chat.completion',
  created: 1,
  model: 'dify',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hé🎉lo' }, finish_reason: 'stop' }],
}

/** The bytes of a kept stream after an event. */
export function streamOf(
  events: readonly string[],
  { after = 0, hasIds = true }: { after?: number; hasIds?: boolean } = {},
): Uint8Array {
  const frames = events.map((data, index) => `data: ${data}\n${hasIds ? `id: ${index + 1}\n` : ''}\n`)
  return encoder.encode(frames.slice(after).join(''))
}

/** Lets all waits pass, each only when nothing else goes on any more, and returns how the call ended. */
export async function ended<T>(call: Promise<T>): Promise<PromiseSettledResult<T>> {
  const results: PromiseSettledResult<T>[] = []
  void Promise.allSettled([call]).then((settled) => results.push(...settled))
  for (;;) {
    await settle()
    const [result] = results
    if (result !== undefined) return result
    await vi.advanceTimersToNextTimerAsync()
  }
}

/** The value with which a call ended. */
export async function resultOf<T>(call: Promise<T>): Promise<T> {
  const result = await ended(call)
  if (result.status === 'rejected') throw result.reason
  return result.value
}
