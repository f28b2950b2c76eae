import { ExtensionSupportRequiredError, RequestMalformedError, TaskNotFoundError } from '@a2a-js/sdk/errors'
import type { ErrorKind } from '@trunkline/sandbox/src/replies/faults.ts'
import { type Answer, json } from '@trunkline/sandbox/src/serving/answer.ts'
import type { Rejections } from '@trunkline/sandbox/src/serving/outage.ts'

/** What stands in front of an agent refuses in plain HTTP, of which A2A says nothing. */
const HTTP = {
  credentials: refusal(401, 'The key is not valid.', { 'www-authenticate': 'Bearer' }),
  quota: refusal(402, 'The balance is used up.'),
  'rate-limit': refusal(429, 'There were too many requests.', { 'retry-after': '7' }),
  'app-not-found': refusal(404, 'There is no such agent.'),
} satisfies Partial<Record<ErrorKind, Answer>>

/** What the agent refuses itself, in the words of A2A. The SDK spells it for each dialect. */
const A2A: Readonly<Record<Exclude<ErrorKind, keyof typeof HTTP>, () => Error>> = {
  'not-found': () => new TaskNotFoundError('Task not found: not-found'),
  rejected: () => new RequestMalformedError('The message is rejected: it is too long.'),
  misconfigured: () =>
    new ExtensionSupportRequiredError('The agent is misconfigured: it lacks an extension.'),
  // A2A has no word for these.
  busy: () => new Error('The agent is busy at 10.0.0.7.'),
  filtered: () => new Error('The message was filtered.'),
  server: () => new Error('The server failed: connect ECONNREFUSED 10.0.0.7:443'),
}

export const UNAUTHORIZED: Answer = HTTP.credentials

/** How the agent as a whole rejects any request. */
export const REJECTIONS: Rejections = {
  credentials: () => HTTP.credentials,
  rateLimit: () => HTTP['rate-limit'],
}

export function httpRefusal(kind: ErrorKind | undefined): Answer | undefined {
  return kind !== undefined && kind in HTTP ? HTTP[kind as keyof typeof HTTP] : undefined
}

export function a2aRefusal(kind: ErrorKind): Error | undefined {
  return kind in A2A ? A2A[kind as keyof typeof A2A]() : undefined
}

function refusal(status: number, message: string, headers: Readonly<Record<string, string>> = {}): Answer {
  return json(status, { error: { message } }, headers)
}
