import { describe, expect, test, vi } from 'vitest'
import { type ErrorReason, StreamFailedError, Trunkline } from '../index.ts'
import { readChatStream } from './read-chat-stream.ts'
import type { VisitorErrorOptions } from './visitor-error.ts'

const SECRET = 'redis-7.internal:6379 of tl_key'
const FIXED = { message: 'The stream failed.', type: 'server_error', code: 'stream_failed', param: null }

type Answer = () => Response | Promise<Response>

const refusal = (status: number, reason: string, headers: Record<string, string> = {}) =>
  Response.json(
    { code: status, msg: SECRET, detail: SECRET, reason, request_id: SECRET },
    { status, headers },
  )

const eventStream = (text: string) =>
  new Response(text, { headers: { 'content-type': 'text/event-stream', 'x-request-id': SECRET } })

const responseOf = (answer: Answer, options?: VisitorErrorOptions) =>
  new Trunkline({
    baseURL: 'http://gateway.test',
    apiKey: 'tl_any',
    maxRetries: 0,
    timeoutMs: 50,
    fetch: async () => await answer(),
  }).chat
    .stream({ query: 'Hello' }, { idleTimeoutMs: 50 })
    .toResponse(options)

/** The last event that a visitor gets, after having looked for secrets in all of them. */
async function lastEventOf(response: Response): Promise<unknown> {
  const text = await response.text()
  expect(text + JSON.stringify([...response.headers])).not.toContain('redis')
  const [last = ''] = text.trim().split('\n\n').slice(-1)
  return JSON.parse(last.replace('data: ', '')).error
}

describe('of the reasons of the gateway, the visitor is told', () => {
  test.each<[ErrorReason, number, string]>([
    ['content_filtered', 400, 'invalid_request_error'],
    ['agent_rejected_input', 400, 'invalid_request_error'],
    ['conversation_busy', 409, 'invalid_request_error'],
    ['answer_required', 400, 'invalid_request_error'],
    ['pause_over', 409, 'invalid_request_error'],
    ['rate_limited', 429, 'rate_limit_error'],
    ['agent_rate_limited', 429, 'rate_limit_error'],
    ['agent_timeout', 504, 'server_error'],
    ['agent_unavailable', 503, 'server_error'],
    ['agent_overloaded', 503, 'server_error'],
    ['unavailable', 503, 'server_error'],
    ['draining', 503, 'server_error'],
  ])('%s, before and within the stream', async (code, status, type) => {
    const answer = () => refusal(status, code, { 'retry-after': '7' })
    expect(await lastEventOf(responseOf(answer))).toEqual({ ...FIXED, type, code, retry_after_ms: 7000 })
    await expect(readChatStream(responseOf(answer)).next()).rejects.toMatchObject({
      constructor: StreamFailedError,
      reason: code,
      retryAfterMs: 7000,
    })
    const failed = JSON.stringify({ error: { message: SECRET, type, code, param: null } })
    expect(await lastEventOf(responseOf(() => eventStream(`data: ${failed}\n\n`)))).toEqual({
      ...FIXED,
      type,
      code,
    })
  })

  test.each([
    ...['key_revoked', 'key_expired', 'owner_suspended', 'credential_missing', 'quota_exceeded'],
    ...['agent_credentials', 'agent_quota', 'agent_misconfigured', 'agent_denied', 'unknown_agent'],
    ...['app_not_found', 'internal_error', 'invalid_request', 'no_such_reason', '__proto__', 'constructor'],
  ])('nothing of %s', async (reason) => {
    expect(await lastEventOf(responseOf(() => refusal(400, reason, { 'retry-after': '7' })))).toEqual(FIXED)
  })
})

const hanging = new Promise<Response>(() => {})

test.each<[string, Answer]>([
  ['the page of a proxy', () => new Response(`<html>${SECRET}</html>`, { status: 502 })],
  ['no connection', () => Promise.reject(new TypeError(`connect ECONNREFUSED ${SECRET}`))],
  [
    'no response',
    () => Promise.race([hanging, new Promise<never>((_, no) => setTimeout(no, 10, new Error(SECRET)))]),
  ],
  ['another type', () => new Response(SECRET, { headers: { 'content-type': `text/html; x="${SECRET}"` } })],
  ['an event that is no JSON', () => eventStream(`data: ${SECRET}\n\n`)],
  ['a stream that is cut', () => eventStream(`data: {"id":"${SECRET}`)],
  ['a failure without a code', () => eventStream(`data: {"error":"${SECRET}"}\n\n`)],
])('of anything else, one fixed text: %s', async (_name, answer) => {
  expect(await lastEventOf(responseOf(answer))).toEqual(FIXED)
})

describe('onError', () => {
  const limited = () => refusal(429, 'rate_limited')

  test('gets the error itself, and returns the message', async () => {
    const onError = vi.fn(() => 'Try later.')
    const event = await lastEventOf(responseOf(limited, { onError }))
    expect(event).toMatchObject({ message: 'Try later.', code: 'rate_limited' })
    expect(onError).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ detail: SECRET, status: 429 }))
    const revoked = await lastEventOf(responseOf(() => refusal(401, 'key_revoked'), { onError }))
    expect(revoked).toEqual({ ...FIXED, message: 'Try later.' })
  })

  test.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error(SECRET)
      },
    ],
    ['rejects', () => Promise.reject(new Error(SECRET))],
    ['returns nothing', () => undefined],
  ])('that %s leaves the fixed text', async (_name, onError) => {
    const response = responseOf(limited, { onError: onError as () => string })
    expect(await lastEventOf(response)).toMatchObject({ message: FIXED.message, code: 'rate_limited' })
  })

  test('is not called for a visitor who has left', async () => {
    const onError = vi.fn(() => 'Try later.')
    const chunk = 'data: {"id":"c","choices":[]}\n\n'
    const body = new ReadableStream({ start: (own) => own.enqueue(new TextEncoder().encode(chunk)) })
    const answer = () => new Response(body, { headers: { 'content-type': 'text/event-stream' } })
    const reader = responseOf(answer, { onError }).body?.getReader()
    await reader?.read()
    const waiting = reader?.read()
    await reader?.cancel()
    await waiting
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve))
    expect(onError).not.toHaveBeenCalled()
  })

  test('is not an option of the response, whose own are kept', async () => {
    const init = { onError: () => 'Try later.', status: 201, headers: { 'x-own': '1' } }
    const response = responseOf(limited, init)
    expect(response.status).toBe(201)
    expect(response.headers.get('x-own')).toBe('1')
    expect(await lastEventOf(response)).toMatchObject({ message: 'Try later.' })
  })
})
