import { expect, test } from 'vitest'
import { failureOf, refusalReader, unreadableBody } from './failure.ts'

const noHeader = () => undefined

test('values for the database are short, well-formed and free of NUL', () => {
  const failure = failureOf('agent_error', { code: 'a\u0000\ud800', logId: 'x'.repeat(500) })
  expect(failure).toEqual({ reason: 'agent_error', platformCode: 'a \ufffd', platformLogId: 'x'.repeat(128) })
})

test("a platform's text is kept only if it helps the caller to correct the request", () => {
  expect(failureOf('agent_rejected_input', { message: 'too long' }).message).toBe('too long')
  expect(failureOf('agent_credentials', { message: 'key sk-1' })).toEqual({ reason: 'agent_credentials' })
})

test.each([
  ['23', undefined, 23],
  ['0', undefined, 1],
  ['3600', undefined, 59],
  ['Wed, 21 Oct 2026 07:28:00 GMT', undefined, undefined],
  [undefined, 'Please try again in 23 seconds.', 23],
  [undefined, 'Please try again in 1.2s.', 2],
  [undefined, 'Please try again in 6ms.', undefined],
  ['5', 'try again in 9 seconds', 5],
])('the header %j and the message %j give a wait of %j seconds', (header, message, retryAfterSeconds) => {
  const failure = failureOf('agent_rate_limited', { header: () => header, message })
  expect(failure.retryAfterSeconds).toBe(retryAfterSeconds)
})

const read = refusalReader(({ code }, { status }) => failureOf('agent_requires_action', { code, status }))

test.each([
  [413, 'agent_rejected_input'],
  [429, 'agent_rate_limited'],
  [401, 'agent_error'],
  [404, 'agent_error'],
  [503, 'agent_error'],
])("a proxy's page with status %i is %s", (status, reason) => {
  expect(read(status, '<html>', noHeader)).toEqual({ reason, platformStatus: status, isPage: true })
})

test.each([
  [400, 'agent_error'],
  [401, 'agent_credentials'],
  [402, 'agent_quota'],
  [403, 'agent_misconfigured'],
  [404, 'agent_misconfigured'],
  [405, 'agent_misconfigured'],
  [413, 'agent_rejected_input'],
  [429, 'agent_rate_limited'],
  [503, 'agent_error'],
])('a text, or nothing, with status %i is %s', (status, reason) => {
  for (const body of ['404 page not found', '', null, 'a JSON text']) {
    expect(read(status, body, noHeader)).toEqual({ reason, platformStatus: status, isPage: true })
  }
})

test('JSON is read by the platform, also in a list', () => {
  for (const body of [{ code: 7 }, [{ code: 7 }], [null, { code: 7 }]]) {
    expect(read(400, body, noHeader)).toEqual({
      reason: 'agent_requires_action',
      platformStatus: 400,
      platformCode: '7',
    })
  }
})

test('a web page where JSON is expected is an error, anything else is malformed', () => {
  expect(unreadableBody('\n<html>')).toEqual([
    { type: 'error', failure: { reason: 'agent_error', isPage: true } },
  ])
  expect(unreadableBody('{"a":')).toEqual([{ type: 'error', failure: { reason: 'agent_malformed' } }])
  expect(unreadableBody(null)).toEqual([{ type: 'error', failure: { reason: 'agent_malformed' } }])
})
