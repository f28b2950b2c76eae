import { chatBody } from './api.ts'
import type { GatewayWithSandbox } from './gateway-with-sandbox.ts'
import { EVENT_STREAM, sendGraphql } from './graphql.ts'
import { CREATED_BY, filePart, formOf, sendForm } from './upload-client.ts'

/** What no trace may have, each of them in the requests of {@link tracedCalls}. */
export const SECRETS = {
  query: 'planted-query-4f1c',
  systemMessage: 'planted-system-8d2e',
  endUser: 'planted-end-user-77aa',
  conversation: 'planted-conversation-13cd',
  chat: 'planted-chat-id-90be',
  variable: 'planted-variable-5b3f',
  requestId: 'planted-request-id-c2d4',
  idempotencyKey: 'planted-idempotency-key-6e7a',
  userAgent: 'planted-user-agent-0f9b',
  cookie: 'planted-cookie-a41d',
  queryString: 'planted-query-string-2c8e',
  path: 'planted-path-e5f6',
  fileName: 'planted-file-name-b7a8.txt',
  fileContent: 'planted-file-content-1d2c',
  createdBy: 'planted-created-by-3e4d',
  username: 'planted-username-5f6e',
  password: 'planted-password-7a8f',
  wrongKey: 'planted-wrong-key-9b0a',
  operationName: 'plantedOperationName1c2b',
  literal: 'planted-literal-3d4c',
  traceState: 'planted-trace-state-5e6d',
  forwardedFor: '203.0.113.77',
} as const

const CHAT = `subscription ${SECRETS.operationName}($input: ChatInput!) { chat(input: $input) { __typename } }`
const REPLY = `mutation ${SECRETS.operationName}($input: ChatInput!) { chat(input: $input) { text } }`
const AGENTS = ['dify', 'openai', 'fastgpt', 'coze', 'hiagent', 'twice']
/** What becomes of a call; most go well. */
const FATES = [
  '',
  '',
  '',
  'sandbox:error=server',
  'sandbox:error-midstream',
  'sandbox:truncate',
  'sandbox:reset-first',
]

type System = Pick<GatewayWithSandbox, 'gateway' | 'key'>
type Way = (system: System, call: { agent: string; query: string; number: number }) => Promise<unknown>

/** Of the stranger's choice, so that it must not become the parent. */
export const STRANGE_TRACE = 'ab'.repeat(16)

function headersOf({ key }: System, number: number): Record<string, string> {
  return {
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    'user-agent': SECRETS.userAgent,
    cookie: `session=${SECRETS.cookie}`,
    'x-request-id': `${SECRETS.requestId}-${number}`,
    'x-forwarded-for': SECRETS.forwardedFor,
    ...(number % 2 === 0 && {
      traceparent: `00-${STRANGE_TRACE}-${'cd'.repeat(8)}-01`,
      tracestate: `vendor=${SECRETS.traceState}`,
    }),
  }
}

async function post(system: System, number: number, path: string, body: object, more: RequestInit = {}) {
  const response = await fetch(`${system.gateway.url}${path}?note=${SECRETS.queryString}`, {
    method: 'POST',
    body: JSON.stringify(body),
    ...more,
    headers: { ...headersOf(system, number), ...(more.headers as Record<string, string>) },
  })
  return response
}

interface RestOptions {
  readonly stream: boolean
  readonly isKept?: boolean
  /** Whether the client leaves after the first bytes of a long reply. */
  readonly leaves?: boolean
}

const rest =
  ({ stream, isKept = false, leaves = false }: RestOptions): Way =>
  async (system, { agent, query, number }) => {
    const body = chatBody({
      query: leaves ? `${query} sandbox:slow=5 sandbox:long=200` : query,
      stream,
      user: SECRETS.endUser,
      chat_id: `${SECRETS.chat}-${number}`,
      conversation_id: `${SECRETS.conversation}-${number}`,
      ...(agent === 'fastgpt' && { variables: { note: SECRETS.variable } }),
    })
    const headers = { agent, ...(isKept && { 'idempotency-key': `${SECRETS.idempotencyKey}-${number}` }) }
    const leaving = new AbortController()
    const response = await post(system, number, '/api/v1/chat', body, { headers, signal: leaving.signal })
    if (leaves) {
      await response.body?.getReader().read()
      leaving.abort()
    } else await response.text()
  }

const openai =
  (stream: boolean): Way =>
  async (system, { agent, query, number }) => {
    const messages = [
      { role: 'system', content: SECRETS.systemMessage },
      { role: 'user', content: query },
    ]
    const body = { model: agent, stream, user: SECRETS.endUser, messages }
    const response = await post(system, number, '/api/v1/chat/completions', body)
    return response.text()
  }

const responses =
  (stream: boolean): Way =>
  async (system, { agent, query, number }) => {
    const body = {
      model: agent,
      stream,
      user: SECRETS.endUser,
      input: query,
      instructions: SECRETS.systemMessage,
    }
    return (await post(system, number, '/api/v1/responses', body)).text()
  }

const inputOf = ({ agent, query, number }: Parameters<Way>[1]) => ({
  agentId: agent,
  query,
  endUser: SECRETS.endUser,
  conversationId: `${SECRETS.conversation}-${number}`,
})

const graphql =
  (document: string, headers: Record<string, string>): Way =>
  async (system, call) =>
    (
      await sendGraphql(system.gateway, document, {
        variables: { input: inputOf(call) },
        headers: { ...headersOf(system, call.number), ...headers },
      })
    ).text()

const upload: Way = (system, { number }) => {
  const form = formOf(CREATED_BY_SECRET, filePart(SECRETS.fileContent, SECRETS.fileName))
  const { 'content-type': _own, ...headers } = headersOf(system, number)
  return sendForm(system.gateway.url, system.key, form, { headers })
}

const CREATED_BY_SECRET = { ...CREATED_BY, content: SECRETS.createdBy }

/** Every way in which a call can come. */
const WAYS: readonly Way[] = [
  rest({ stream: false }),
  rest({ stream: true }),
  openai(false),
  openai(true),
  responses(false),
  responses(true),
  graphql(REPLY, {}),
  graphql(CHAT, EVENT_STREAM),
  upload,
  rest({ stream: true, leaves: true }),
  rest({ stream: false, isKept: true }),
  rest({ stream: true, isKept: true, leaves: true }),
]

/** Sends so many calls, a few at a time: in every way, to every agent, with every fate. */
export async function tracedCalls(system: System, count: number): Promise<void> {
  let next = 0
  const caller = async () => {
    while (next < count) {
      const number = next
      next += 1
      const way = WAYS[number % WAYS.length] as Way
      const agent = AGENTS[Math.floor(number / WAYS.length) % AGENTS.length] as string
      const fate = FATES[number % FATES.length] as string
      const query = `${SECRETS.query} ${fate}`
      await way(system, { agent, query, number })
    }
  }
  await Promise.all(Array.from({ length: 8 }, caller))
}

/** Requests that become no calls, with further secrets. */
export async function tracedRefusals({ gateway, key }: System): Promise<void> {
  const login = { username: SECRETS.username, password: SECRETS.password }
  const literal = `{ calls(filter: { endUser: "${SECRETS.literal}" }) { totalCount } }`
  const requests: readonly [path: string, init: RequestInit][] = [
    ['/api/v1/login', { method: 'POST', body: JSON.stringify(login) }],
    [`/api/v1/${SECRETS.path}`, {}],
    [`/api/v1/calls?end_user=${SECRETS.endUser}`, {}],
    [
      '/api/v1/chat',
      { method: 'POST', body: '{}', headers: { authorization: `Bearer ${SECRETS.wrongKey}` } },
    ],
    ['/graphql', { method: 'POST', body: JSON.stringify({ query: literal }) }],
  ]
  for (const [path, init] of requests) {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...init.headers }
    await (await fetch(gateway.url + path, { ...init, headers })).text()
  }
}
