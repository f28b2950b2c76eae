import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { ErrorKind } from '@trunkline/sandbox/src/replies/faults.ts'
import { type Answer, plainText } from '@trunkline/sandbox/src/serving/answer.ts'
import type { Rejections } from '@trunkline/sandbox/src/serving/outage.ts'
import type { RunRequest } from './run-request.ts'
import type { Upstream, UpstreamRequest } from './upstream.ts'

/** What stands in front of LangGraph refuses in plain HTTP, and so does LangGraph when it fails itself. */
const ANSWERS = {
  quota: plainText(402, 'Payment Required'),
  'rate-limit': withHeader(plainText(429, 'Too Many Requests'), 'retry-after', '7'),
  misconfigured: plainText(404, 'Graph "sandbox-missing" not found'),
  filtered: plainText(500, 'Internal Server Error'),
  server: plainText(500, 'Internal Server Error'),
} satisfies Partial<Record<ErrorKind, Answer>>

/** How the platform as a whole rejects any request. */
export const REJECTIONS: Rejections = {
  credentials: () => plainText(401, 'Invalid API key'),
  rateLimit: () => ANSWERS['rate-limit'],
}

export const SERVER_ERROR: Answer = ANSWERS.server

/** Something that LangGraph does not know. */
const MISSING = 'sandbox-missing'

/** Refuses a run in the way that a command names; most ways are LangGraph's own. */
export function refuse(
  kind: ErrorKind,
  request: UpstreamRequest,
  { thread }: RunRequest,
  upstream: Upstream,
): Promise<IncomingMessage> | Answer {
  const { body, headers } = request
  switch (kind) {
    case 'credentials':
      return upstream.send({ ...request, headers: { ...headers, 'x-api-key': MISSING } })
    case 'busy':
      return whileBusy(request, thread || randomUUID(), upstream)
    case 'not-found':
      return upstream.send({ ...request, method: 'GET', path: `/threads/${randomUUID()}`, body: {} })
    case 'app-not-found':
      return upstream.send({ ...request, body: { ...body, assistant_id: MISSING } })
    case 'rejected':
      return upstream.send({ ...request, body: { ...body, config: { recursion_limit: MISSING } } })
    default:
      return ANSWERS[kind]
  }
}

/** Keeps the thread busy with a run that waits for its turn, and takes it away again. */
async function whileBusy(
  request: UpstreamRequest,
  thread: string,
  upstream: Upstream,
): Promise<IncomingMessage> {
  const path = `/threads/${thread}/runs`
  const waiting = { assistant_id: 'agent', if_not_exists: 'create', after_seconds: 3_600 }
  const run = await upstream.call('POST', path, waiting)
  try {
    return await upstream.send({ ...request, path: `${path}/stream` })
  } finally {
    if (run !== undefined) await upstream.call('POST', `${path}/${run.run_id}/cancel`)
  }
}

function withHeader({ headers, ...answer }: Answer, name: string, value: string): Answer {
  return { ...answer, headers: { ...headers, [name]: value } }
}
