import { randomUUID } from 'node:crypto'
import type { Dialect } from '@trunkline/gateway/test/agents/dialect.test-support.ts'
import { readerOf } from '../support/stream.ts'
import { untilServed } from '../support/until-served.ts'
import {
  agentId,
  fresh,
  type GatewayWithEmulators,
  HEADER_HOLD_MS,
  type Variant,
} from './gateway-with-emulators.ts'
import { type Reply, readReply, type Usage } from './reply.ts'

export interface Question {
  readonly query: string
  readonly face?: 'rest' | 'openai'
  readonly stream?: boolean
  readonly detail?: boolean
  /** The conversation id. The default is a new conversation. */
  readonly chat?: string
  readonly user?: string
  readonly owner?: 'mine' | 'theirs'
  readonly variant?: Variant
  /** An app of the variant `apps`. */
  readonly app?: string
  /** URLs; on the OpenAI-compatible interface also `data:` URLs. */
  readonly files?: readonly string[]
  readonly variables?: Readonly<Record<string, unknown>>
  /** Messages before the query in the array of the OpenAI-compatible interface. */
  readonly before?: readonly { readonly role: string; readonly content: string }[]
}

/** What the client learned about an admitted call. The ledger must agree with it. */
export interface CallResult {
  readonly question: Question
  readonly reason?: string | undefined
  readonly usage?: Usage | undefined
  /** The client disconnected before the end. */
  readonly left?: true
}

export interface Opened {
  /** Reads until the text so far matches, and returns it. */
  until(pattern: RegExp): Promise<string>
  /** Closes the connection. */
  leave(): void
}

export interface Client {
  ask(question: Question): Promise<Reply>
  /** Uploads a file of the owner `mine`, and returns its URL. */
  upload(file: { readonly name: string; readonly content: string }): Promise<string>
  /** Starts a streamed call. */
  open(question: Question): Promise<Opened>
  /** Starts a JSON call and disconnects when `when` resolves. */
  askAndLeave(question: Question, when: Promise<unknown>): Promise<void>
  /** Every admitted call, by request id. */
  readonly results: ReadonlyMap<string, CallResult>
}

/** What makes an emulator answer late on purpose. */
export const SLOW_FIRST = 'sandbox:slow-first'
const TRIES_MAX = 3

export function createClient(setup: GatewayWithEmulators, dialect: Dialect): Client {
  const results = new Map<string, CallResult>()
  return {
    results,
    async ask(question) {
      for (let tries = 1; ; tries += 1) {
        let [requestId, sentMs] = ['', 0]
        const response = await untilServed(() => {
          ;[requestId, sentMs] = [randomUUID(), performance.now()]
          return send(setup, dialect, question, { requestId })
        })
        const wasLate = performance.now() - sentMs >= HEADER_HOLD_MS
        const reply = readReply(response, await response.text())
        const { reason, usage, headers, text } = reply
        if (headers.has('x-call-id')) results.set(requestId, { question, reason, usage })
        // On a machine with too much to do, even a rejection comes so late that the stream has begun, whose status is 200 then.
        const hasBegun = wasLate && response.status === 200 && reason !== undefined && text === ''
        if (!hasBegun || question.query.includes(SLOW_FIRST) || tries === TRIES_MAX) return reply
      }
    },
    async upload({ name, content }) {
      const form = new FormData()
      form.set('file', new File([content], name))
      form.set('created_by', 'me')
      const headers = { authorization: `Bearer ${setup.keys.mine}` }
      const response = await untilServed(() =>
        fetch(`${setup.url}/api/v1/upload`, { method: 'POST', headers, body: form }),
      )
      if (!response.ok) throw new Error(`the upload was refused: ${await response.text()}`)
      const { data } = (await response.json()) as { data: { url: string } }
      return data.url
    },
    async open(question) {
      const leaving = new AbortController()
      const streamed = { ...question, stream: true }
      let requestId = ''
      const response = await untilServed(() => {
        requestId = randomUUID()
        return send(setup, dialect, streamed, { requestId, signal: leaving.signal })
      })
      results.set(requestId, { question, left: true })
      return { until: readerOf(response).until, leave: () => leaving.abort() }
    },
    async askAndLeave(question, when) {
      const requestId = randomUUID()
      const leaving = new AbortController()
      const response = send(setup, dialect, question, { requestId, signal: leaving.signal }).catch(
        () => undefined,
      )
      await when
      results.set(requestId, { question, left: true })
      leaving.abort()
      await response
    },
  }
}

/** The four ways to call: both interfaces, each with and without streaming. */
export const WAYS = [
  { face: 'rest', stream: false },
  { face: 'rest', stream: true },
  { face: 'openai', stream: false },
  { face: 'openai', stream: true },
] as const

function send(
  setup: GatewayWithEmulators,
  dialect: Dialect,
  question: Question,
  { requestId, signal = null }: { requestId: string; signal?: AbortSignal | null },
): Promise<Response> {
  const { face = 'rest', variant = 'plain', owner = 'mine', chat = fresh() } = question
  const agent = agentId(dialect, variant)
  const app = question.app ?? (variant === 'apps' ? 'one' : dialect.appId)
  const isOpenAi = face === 'openai'
  return fetch(setup.url + (isOpenAi ? '/api/v1/chat/completions' : '/api/v1/chat'), {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-request-id': requestId,
      authorization: `Bearer ${setup.keys[owner]}`,
      ...(!isOpenAi && { agent }),
      ...(isOpenAi && chat !== '' && { 'x-conversation-id': chat }),
    },
    body: JSON.stringify(
      isOpenAi
        ? completion(question, app === '' ? agent : `${agent}/${app}`)
        : chatCall(question, chat, app, dialect),
    ),
    signal,
  })
}

function chatCall(question: Question, chat: string, app: string, { requiresConversation }: Dialect) {
  const { query, stream = false, detail = false, files = [], user, variables } = question
  const isConversation = requiresConversation === true
  return {
    app_id: app,
    chat_id: isConversation ? '' : chat,
    conversation_id: isConversation ? chat : '',
    stream,
    detail,
    query,
    files,
    user,
    variables,
  }
}

function completion(question: Question, model: string) {
  const { query, stream = false, files = [], user, before = [] } = question
  const parts = files.map((url) =>
    /\.png$/.test(url)
      ? { type: 'image_url', image_url: { url } }
      : { type: 'file', file: { filename: url.split('/').at(-1), file_data: url } },
  )
  const content = files.length === 0 ? query : [{ type: 'text', text: query }, ...parts]
  return {
    model,
    messages: [...before, { role: 'user', content }],
    stream,
    ...(stream && { stream_options: { include_usage: true } }),
    user,
  }
}
