import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { ERRORS } from '../../../../gateway/src/core/base/errors/errors.ts'
import { messages } from '../../../messages/en.ts'
import { adviceOf } from './advice.ts'
import { kindOf, LIMITS, settingOf } from './limit-name.ts'
import { REASONS } from './refusal-reasons.ts'

const refused = { limit: '', field: null }

test.each([
  [{ reason: 'rate_limited', status: 429, limit: 'chat' }, 'window'],
  [{ reason: 'quota_exceeded', status: 429, limit: 'quota' }, 'quota'],
  [{ reason: 'rate_limited', status: 429, limit: 'of_next_year' }, 'later'],
  [{ reason: 'unavailable', status: 503, limit: 'database' }, 'part'],
  [{ reason: 'unavailable', status: 503 }, 'gateway'],
  [{ reason: 'invalid_request', status: 400, field: 'query' }, 'field'],
  [{ reason: 'invalid_json', status: 400 }, 'request'],
  [{ reason: 'key_revoked', status: 401 }, 'key_revoked'],
  [{ reason: 'token_invalid', status: 401 }, 'credential'],
  [{ reason: 'agent_denied', status: 403, field: 'Agent' }, 'agent_denied'],
  [{ reason: 'upload_not_found', status: 404 }, 'notFound'],
] as const)('the refusal %j has the advice %s', (refusal, advice) => {
  expect(adviceOf({ ...refused, ...refusal })).toBe(advice)
})

test('every reason and every limit has its texts', () => {
  const texts = messages.refusals.advice as Record<string, string>
  for (const [reason, { status }] of Object.entries(ERRORS)) {
    expect(texts, reason).toHaveProperty(adviceOf({ ...refused, reason, status }))
  }
  expect(Object.keys(messages.refusals.limits).sort()).toEqual([...LIMITS].sort())
  for (const limit of LIMITS) expect(texts, limit).toHaveProperty(kindOf(limit) ?? '')
})

test('the reasons to filter by are those of the gateway', () => {
  expect(REASONS.filter((reason) => !Object.hasOwn(ERRORS, reason))).toEqual([])
})

test('where a limit is changed is a setting that the gateway has', () => {
  const page = (name: string) => readFileSync(new URL(`../../../../../docs/${name}`, import.meta.url), 'utf8')
  const settings = page('settings.md') + page('agent-settings.md')
  const named = LIMITS.flatMap((limit) => settingOf(limit) ?? [])
  expect(named).toEqual(expect.arrayContaining(['limits.adminWrites.points', 'connectionsMax']))
  expect(named.filter((name) => !settings.includes(`\`${name.replace('.points', '')}\``))).toEqual([])
})
