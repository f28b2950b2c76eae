import { randomBytes } from 'node:crypto'
import type { ErrorKind } from '../replies/faults.ts'
import { type Answer, json, Refusal } from '../serving/answer.ts'
import type { RequestContext } from '../serving/http-server.ts'
import { asText } from '../serving/narrow.ts'

export const KEY = 'hiagent-sandbox'
export const BASE = '/api/proxy/api/v1'

/**
 * The vendor's SDK defines the shape of an error but not its codes, so these are invented in the same style.
 */
const ERRORS: Readonly<Record<ErrorKind, readonly [code: string, message: string]>> = {
  credentials: ['AuthFailed', 'api key invalid'],
  quota: ['QuotaExceeded', 'token quota exceeded'],
  'rate-limit': ['TooManyRequests', 'request rate limit exceeded'],
  busy: ['ConversationBusy', 'conversation is being answered'],
  'not-found': ['ConversationNotFound', 'app conversation not found'],
  'app-not-found': ['AppNotFound', 'app not found'],
  rejected: ['InvalidParameter', 'invalid parameter'],
  filtered: ['SensitiveContent', 'query contains sensitive content'],
  misconfigured: ['AppNotPublished', 'app is not published'],
  server: ['InternalError', 'internal error'],
}

export function refusal(path: string, kind: ErrorKind): Refusal {
  return new Refusal(failure(path, kind))
}

export function failure(path: string, kind: ErrorKind): Answer {
  const [Code, Message] = ERRORS[kind]
  return json(200, {
    ResponseMetadata: {
      RequestId: shortId(),
      Action: path.slice(BASE.length + 1),
      Version: '2023-08-01',
      Service: 'app',
      Region: 'cn-north-1',
      Error: { Code, Message },
    },
  })
}

/**
 * Checks the keys of a call and returns its user.
 *
 * @throws Refusal if a key is wrong or the user id is missing or too long
 */
export function userOf({ headers, body, path }: RequestContext): string {
  if (headers.apikey !== KEY || body.AppKey !== KEY) throw refusal(path, 'credentials')
  const userId = asText(body.UserID)
  if (userId.length < 1 || userId.length > 20) throw refusal(path, 'rejected')
  return userId
}

export function shortId(): string {
  return randomBytes(10).toString('hex')
}
