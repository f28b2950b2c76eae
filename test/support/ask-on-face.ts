import { randomUUID } from 'node:crypto'
import { EVENT_STREAM, resultsOf, sendGraphql } from './graphql.ts'
import { framesOf } from './stream.ts'

export const FACES = ['rest', 'openai', 'responses', 'graphql'] as const
export type Face = (typeof FACES)[number]
export const MODES = ['json', 'stream', 'kept'] as const
/** A kept call of GraphQL is a mutation, and one of the other faces a stream. */
export type Mode = (typeof MODES)[number]

/** How a call reaches the gateway. */
export interface Way<Agent extends string = string> {
  readonly agent: Agent
  readonly face: Face
  readonly mode: Mode
}

/** Every agent on every face, each in one mode, so that every agent and every face has every mode. */
export function waysOf<Agent extends string>(agents: readonly Agent[]): readonly Way<Agent>[] {
  return agents.flatMap((agent, row) =>
    FACES.map((face, column) => ({ agent, face, mode: MODES[(row + column) % MODES.length] ?? 'json' })),
  )
}

export interface Message {
  readonly query: string
  readonly conversation?: string
  /** The id of the response before, which the Responses API continues. */
  readonly previous?: string
  readonly answer?: { readonly pause?: string; readonly option?: string }
  readonly user?: string
  readonly idempotencyKey?: string
}

// biome-ignore lint/suspicious/noExplicitAny: as the client has parsed it
type Any = any

/** What a client keeps of a reply, in one form for all faces. */
export interface Told {
  readonly status: number
  readonly text: string
  readonly files: readonly { readonly url?: string; readonly type: string; readonly name?: string }[]
  readonly pause: Any
  readonly id: string
  readonly conversation: string
  readonly reason: string | undefined
  /** The first field that a refusal names. */
  readonly field: string | undefined
  /** In seconds. */
  readonly retryAfter: string | null
  readonly shouldRetry: string | null
  /** As they were received. */
  readonly headers: Headers
  readonly whole: string
}

interface Asking extends Way {
  readonly url: string
  readonly key: string
  readonly message: Message
}

/** Asks an agent on a face. */
export async function askOnFace(asking: Asking): Promise<Told> {
  const { agent, face, mode, message } = asking
  const { conversation = '', previous, query } = message
  const stream = mode !== 'json'
  const named = conversation === '' ? {} : { 'x-conversation-id': conversation }
  switch (face) {
    case 'rest': {
      const ids = { app_id: '', chat_id: conversation, conversation_id: conversation || `c-${randomUUID()}` }
      const body = { ...ids, stream, detail: false, query, files: [] }
      return readChunks(await post(asking, '/api/v1/chat', body, { agent }))
    }
    case 'openai': {
      const body = { model: agent, stream, messages: [{ role: 'user', content: query }] }
      return readChunks(await post(asking, '/api/v1/chat/completions', body, named))
    }
    case 'responses': {
      const body = { model: agent, stream, input: query, previous_response_id: previous }
      return readResponse(await post(asking, '/api/v1/responses', body, previous === undefined ? named : {}))
    }
    case 'graphql':
      return askGraphql(asking)
  }
}

function post({ url, key, mode, message }: Asking, path: string, body: object, more: Record<string, string>) {
  const { answer, user, idempotencyKey = randomUUID() } = message
  return fetch(url + path, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      ...(mode === 'kept' && { 'idempotency-key': idempotencyKey }),
      ...more,
    },
    body: JSON.stringify({ ...body, answer, user }),
  })
}

/** What a refusal says, as each face has it. */
function refusalIn(body: Any): Pick<Told, 'reason' | 'field'> {
  return {
    reason: body?.reason ?? body?.error?.code ?? undefined,
    field: body?.fields?.[0]?.field ?? body?.error?.param ?? undefined,
  }
}

async function receivedFrom(response: Response) {
  const { status, headers } = response
  return {
    ...{ status, headers, whole: await response.text() },
    conversation: headers.get('x-conversation-id') ?? '',
    retryAfter: headers.get('retry-after'),
    shouldRetry: headers.get('x-should-retry'),
  }
}

async function readChunks(response: Response): Promise<Told> {
  const received = await receivedFrom(response)
  const { headers, whole } = received
  if (headers.get('content-type')?.includes('json')) {
    const body = JSON.parse(whole)
    const { id, pause, files = [], choices } = body
    const text = choices?.[0]?.message.content ?? ''
    return { ...received, text, files, pause, id, ...refusalIn(body) }
  }
  const chunks = framesOf(whole)
  const { files = [], pause } = chunks.find(({ choices }) => choices?.[0]?.finish_reason != null) ?? {}
  const text = chunks.map(({ choices }) => choices?.[0]?.delta?.content ?? '').join('')
  return { ...received, text, files, pause, id: chunks[0]?.id, ...refusalIn(chunks.at(-1)) }
}

async function readResponse(response: Response): Promise<Told> {
  const received = await receivedFrom(response)
  const { headers, whole } = received
  const isJson = headers.get('content-type')?.includes('json') === true
  const body = isJson ? JSON.parse(whole) : framesOf(whole).at(-1)?.response
  const { id, pause, files = [], output = [] } = body ?? {}
  const text = output.flatMap(({ content = [] }: Any) => content.map((part: Any) => part.text)).join('')
  return { ...received, text, files, pause, id, ...refusalIn(body) }
}

const END = `files { url type name }
  pause { id: pauseId question options { id: optionId title } fields { name type options required } expiresAt }`
const REPLY = `mutation ($input: ChatInput!) { chat(input: $input) { callId conversationId text ${END} } }`
const FOLLOW = `subscription ($input: ChatInput!) { chat(input: $input) {
  ... on ChatStarted { callId conversationId } ... on ChatText { text } ... on ChatFinished { ${END} } } }`

async function askGraphql({ url, key, agent, mode, message }: Asking): Promise<Told> {
  const { query, conversation = '', answer, user, idempotencyKey = randomUUID() } = message
  const { pause, option, ...others } = answer ?? {}
  const input = {
    ...{ agentId: agent, query, conversationId: conversation || `c-${randomUUID()}`, endUser: user },
    // By the names that the input has for its ids.
    ...(answer !== undefined && { answer: { ...others, pauseId: pause, optionId: option } }),
    ...(mode === 'kept' && { idempotencyKey }),
  }
  const isStream = mode === 'stream'
  const request = { variables: { input }, as: key, ...(isStream && { headers: EVENT_STREAM }) }
  const received = await receivedFrom(await sendGraphql({ url }, isStream ? FOLLOW : REPLY, request))
  const results = isStream ? resultsOf(received.whole).results : [JSON.parse(received.whole)]
  const items = results.flatMap(({ data }) => data?.chat ?? [])
  const text = items.map((item) => item.text ?? '').join('')
  const { errors } = results.at(-1) ?? {}
  return toldBy(received, Object.assign({}, ...items, { text }), errors?.[0]?.extensions ?? {})
}

function toldBy(received: Pick<Told, 'status' | 'headers' | 'whole'>, reply: Any, extensions: Any): Told {
  const { status = received.status, code, retryAfterSeconds, retryable } = extensions
  const { text = '', callId: id, conversationId: conversation = '', pause } = reply
  // As the other faces have them.
  const files = (reply.files ?? []).map(({ url, type, name }: Any) => ({
    ...(url && { url }),
    type: type.toLowerCase(),
    ...(name && { name }),
  }))
  const { headers, whole } = received
  return {
    ...{ status, text, files, pause: pause ?? undefined, id, conversation, headers, whole },
    ...{ reason: code, field: refusalIn(extensions).field },
    retryAfter: retryAfterSeconds === undefined ? null : String(retryAfterSeconds),
    shouldRetry: code === undefined ? null : String(retryable ?? true),
  }
}
