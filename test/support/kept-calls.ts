import { chatBody } from './api.ts'
import { until } from './until.ts'

/** The HTTP routes that accept calls with an `Idempotency-Key`. */
export const KEPT_FACES = ['chat', 'openai', 'responses'] as const
export type KeptFace = (typeof KEPT_FACES)[number]

const PATHS: Readonly<Record<KeptFace, string>> = {
  chat: '/api/v1/chat',
  openai: '/api/v1/chat/completions',
  responses: '/api/v1/responses',
}

export interface KeptQuestion {
  readonly agent?: string
  readonly query?: string
  readonly stream?: boolean
  /** The conversation; by default one that has the name of the key. The empty string begins a new one. */
  readonly conversation?: string
  /** Further fields of the body. */
  readonly body?: object
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
  /** The text of the body, instead of that of the question. */
  readonly text?: string
}

export interface Cursor {
  readonly after?: number | string
  readonly lastEventId?: number | string
  readonly signal?: AbortSignal
}

/** Where a client of kept calls finds a gateway, which may be another at every request, and as whom it calls. */
export interface KeptConnection {
  readonly url: string
  readonly apiKey: string
}

/** A client of kept calls. A call is named by its id, or by `key:` and its `Idempotency-Key`. */
export function keptClient({ url, apiKey }: KeptConnection) {
  const authorization = `Bearer ${apiKey}`
  const get = (path: string, { headers, signal }: Pick<KeptQuestion, 'headers' | 'signal'> = {}) =>
    fetch(url + path, { headers: { authorization, ...headers }, ...(signal && { signal }) })
  const pathOf = (call: string, what: string) => `/api/v1/calls/${encodeURIComponent(call)}/${what}`

  return {
    /** Asks under an `Idempotency-Key`; without one if that is undefined. */
    ask(face: KeptFace, idempotencyKey: string | undefined, question: KeptQuestion = {}): Promise<Response> {
      const { agent = 'openai', conversation = idempotencyKey ?? '', headers, signal } = question
      return fetch(url + PATHS[face], {
        method: 'POST',
        headers: {
          authorization,
          'content-type': 'application/json',
          ...(face === 'chat' ? { agent } : conversation !== '' && { 'x-conversation-id': conversation }),
          ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
          ...headers,
        },
        body: question.text ?? JSON.stringify(keptBody(face, { ...question, agent, conversation })),
        ...(signal && { signal }),
      })
    },
    resume(call: string, { after, lastEventId, signal }: Cursor = {}): Promise<Response> {
      const query = after === undefined ? '' : `?after=${after}`
      const headers = lastEventId === undefined ? {} : { 'last-event-id': String(lastEventId) }
      return get(pathOf(call, 'stream') + query, { headers, ...(signal && { signal }) })
    },
    reply: (call: string): Promise<Response> => get(pathOf(call, 'reply')),
    async stop(call: string): Promise<{ call_id: string; outcome: string | null }> {
      const init = { method: 'POST', headers: { authorization } }
      const response = await fetch(url + pathOf(call, 'stop'), init)
      if (response.status !== 200) throw new Error(`the stop was answered ${await response.text()}`)
      return ((await response.json()) as { data: { call_id: string; outcome: string | null } }).data
    },
    remove: (call: string): Promise<Response> =>
      fetch(url + pathOf(call, 'reply'), { method: 'DELETE', headers: { authorization } }),
    /** Waits until the reply has ended. */
    ended(call: string): Promise<Response> {
      return until('the reply has ended', async () => {
        const response = await get(pathOf(call, 'reply'))
        return response.status !== 202 && response
      })
    },
  }
}

export type KeptClient = ReturnType<typeof keptClient>

/** The body of a question on a face. */
export function keptBody(
  face: KeptFace,
  { agent = 'openai', query = 'Hello', stream = false, conversation = '', body }: KeptQuestion,
): object {
  const hasApp = agent.startsWith('fastgpt')
  if (face === 'chat') {
    const conversations = { chat_id: conversation, conversation_id: conversation }
    return chatBody({ query, stream, ...conversations, app_id: hasApp ? 'app-1' : '', ...body })
  }
  const asks = face === 'openai' ? { messages: [{ role: 'user', content: query }] } : { input: query }
  return { model: hasApp ? `${agent}/app-1` : agent, stream, ...asks, ...body }
}

/** The events of a stream as they were sent, without comments. */
export function eventsOf(stream: string): string[] {
  return stream.split(/(?<=\n\n)/).filter((event) => !event.startsWith(':'))
}

/** A stream without the comments that only keep a connection open. */
export function withoutComments(stream: string): string {
  return eventsOf(stream).join('')
}

/** The numbers of the events of a stream, each of which must have one as its last line. */
export function idsOf(stream: string): number[] {
  return eventsOf(stream).map((event) => Number(/\nid: (\d+)\n\n$/.exec(event)?.[1]))
}

/** The reason that an error of any face has. */
export function reasonOf(text: string): string | undefined {
  const body = JSON.parse(text) as { reason?: string; error?: { code?: string } }
  return body.reason ?? body.error?.code
}

/** The reason of the failure with which a stream of any face ends; undefined if it does not end with one. */
export function failureOf(stream: string): string | undefined {
  const failure = eventsOf(stream).find((event) => event.includes('"error":{'))
  return failure === undefined ? undefined : /"code":"(\w+)"/.exec(failure)?.[1]
}

/** The whole events of the bytes that a client had received when its connection broke. */
export function wholeEvents(received: Buffer): string {
  return received.subarray(0, received.lastIndexOf('\n\n') + 2 || 0).toString()
}

/** The number of the last event of a text, 0 if it has none. */
export function lastIdOf(events: string): number {
  return Number(/^id: (\d+)\n\n$/m.exec(eventsOf(events).at(-1) ?? '')?.[1] ?? 0)
}

/** Everything that a response brings, also if its connection breaks. */
export async function receivedOf({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  try {
    for await (const chunk of body ?? []) chunks.push(chunk)
  } catch {
    // What has been received counts.
  }
  return withoutComments(wholeEvents(Buffer.concat(chunks)))
}

export interface CutReader {
  /** The clients of the gateways that get the requests in turn; each connection is broken. */
  readonly clients: readonly KeptClient[]
  readonly call: string
  /** Whether connections break within an event, which is then lost, or between two. */
  readonly isMidEvent: boolean
}

/** Reads a stream whose connection breaks after every event, and returns what the client has in the end. */
export async function readWithCuts({ clients, call, isMidEvent }: CutReader): Promise<string> {
  let text = ''
  for (let turn = 0; ; turn += 1) {
    const cut = new AbortController()
    const client = clients[turn % clients.length]
    const response = await client?.resume(call, { lastEventId: lastIdOf(text), signal: cut.signal })
    if (response?.status !== 200) throw new Error(`refused: ${response?.status} ${await response?.text()}`)
    const { events, isEnd } = await readSome(response, isMidEvent)
    text += events
    cut.abort()
    if (isEnd) return text
  }
}

async function readSome(
  { body }: Response,
  isMidEvent: boolean,
): Promise<{ events: string; isEnd: boolean }> {
  let received = Buffer.alloc(0)
  for await (const chunk of body ?? []) {
    received = Buffer.concat([received, chunk])
    const all = eventsOf(wholeEvents(received))
    if (all.length < (isMidEvent ? 2 : 1)) continue
    const kept = isMidEvent ? all.slice(0, -1) : all
    const half = isMidEvent ? Buffer.from(all.at(-1) ?? '').subarray(0, 9) : Buffer.alloc(0)
    return { events: wholeEvents(Buffer.concat([Buffer.from(kept.join('')), half])), isEnd: false }
  }
  return { events: withoutComments(wholeEvents(received)), isEnd: true }
}
