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
  ['23', 23],
  ['0', 1],
  ['0.2', 1],
  ['12.1', 13],
  ['3600', 59],
  ['soon', undefined],
])('a wait of %j, which a rate limit asks for, is one of %j whole seconds', (header, retryAfterSeconds) => {
  const facts = { header: (name: string) => (name === 'retry-after' ? header : undefined) }
  expect(failureOf('agent_rate_limited', facts).retryAfterSeconds).toBe(retryAfterSeconds)
  expect(failureOf('agent_error', facts)).toEqual({ reason: 'agent_error' })
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
