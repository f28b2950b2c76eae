import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { VENDORS } from './vendors.ts'
import { reasonInWords } from './whose-fault.ts'

/** The refusals of `transcripts/vendors.txt`: a vendor, a status, what it means, and the body as the vendor sends it. */
const REFUSALS = readFileSync(join(import.meta.dirname, 'transcripts/vendors.txt'), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => {
    const [vendor = '', status, reason = '', body = ''] = line.split(' | ')
    return { vendor, status: Number(status), reason, body: JSON.parse(body) as unknown }
  })

test.each(REFUSALS)('$vendor, $status: $body is $reason', ({ status, body, reason }) => {
  expect(reasonInWords(body, status)).toBe(reason)
})

test('there is a recorded refusal of every vendor, and every vendor has a source', () => {
  expect(VENDORS.length).toBeGreaterThanOrEqual(12)
  expect(new Set(REFUSALS.map(({ vendor }) => vendor))).toEqual(new Set(VENDORS.map(({ name }) => name)))
  for (const { source } of VENDORS) expect(source).toMatch(/^https:\/\//)
})

describe('words that no vendor of the list uses', () => {
  test.each([
    [400, 'Your wallet has insufficient funds', 'agent_quota'],
    [403, 'Account suspended: payment overdue', 'agent_quota'],
    [400, 'Please top up your account', 'agent_quota'],
    [400, 'The provided api key has expired', 'agent_credentials'],
    [403, 'Missing authentication token', 'agent_credentials'],
    [400, 'Unknown model', 'agent_misconfigured'],
    [500, 'No available channel for this group', 'agent_misconfigured'],
    [400, 'Your prompt was flagged by our safety system', 'content_filtered'],
    [503, 'All backends are busy due to high demand', 'agent_rate_limited'],
    [500, 'Too many concurrent requests', 'agent_rate_limited'],
    [400, '账号余额不足', 'agent_quota'],
    [400, '您的套餐已到期', 'agent_quota'],
    [400, '身份验证失败', 'agent_credentials'],
    [400, '模型 x 已下线', 'agent_misconfigured'],
    [400, '内容涉嫌违规', 'content_filtered'],
    [503, '当前服务负载过高', 'agent_rate_limited'],
    [429, '您的积分不足', 'agent_quota'],
    [429, 'whatever', undefined],
    [402, 'whatever', undefined],
    [500, 'Internal error', undefined],
    [400, 'Invalid JSON: unexpected token } at position 3', undefined],
    [400, 'max_tokens must be at least 1', undefined],
    [400, 'messages: content must not be empty', undefined],
    [401, 'Too many requests were made without a key', undefined],
  ])('%i %s is %s', (status, message, reason) => {
    expect(reasonInWords({ error: { message } }, status)).toBe(reason)
    expect(reasonInWords({ detail: message }, status)).toBe(reason)
  })

  test.each([
    ['a quotation', { message: "Invalid tool name: 'insufficient balance'" }],
    [
      'the input that a validator repeats',
      { detail: [{ msg: 'Field required', input: { text: 'invalid api key' } }] },
    ],
    ['another field', { message: 'Bad request', body: { messages: [{ content: '余额不足' }] } }],
    [
      'a long text, far from its beginning',
      { message: `Cannot read the file ${'x'.repeat(400)} unauthorized, flagged` },
    ],
  ])("a caller's own words do not count: %s", (_where, error) => {
    expect(reasonInWords({ error }, 400)).toBeUndefined()
  })
})

test.each([
  [{ message: 'must be one of the list', param: 'model' }, 'agent_misconfigured'],
  [{ detail: [{ loc: ['body', 'model'], msg: 'Value error' }] }, 'agent_misconfigured'],
  [{ message: 'must be positive', param: 'max_tokens' }, undefined],
  [{ message: 'The model x is not supported' }, 'agent_misconfigured'],
  [{ message: 'This model is not supported with images' }, undefined],
])('the model is the choice of the operator: %j', (error, reason) => {
  expect(reasonInWords({ error }, 400)).toBe(reason)
})

test('a number means what it does to a vendor only with its status', () => {
  expect(reasonInWords({ error: { code: '1113', message: 'x' } }, 429)).toBe('agent_quota')
  expect(reasonInWords({ error: { code: 1113, message: 'x' } }, undefined)).toBe('agent_quota')
  expect(reasonInWords({ error: { code: '1113', message: 'x' } }, 500)).toBeUndefined()
})

test.each([
  null,
  7,
  [],
  {},
  { error: { toString: 1, code: { valueOf: 1 } } },
  '{'.repeat(5_000),
  { message: '{"message":'.repeat(900) },
])('whatever is in an error, reading it throws nothing: %j', (error) => {
  expect(reasonInWords(error, 400)).toBeUndefined()
})
