import { expect, test } from 'vitest'
import { createAgentCatalog } from '#core/agents/catalog.ts'
import { createAgentDirectory } from '#core/agents/directory.ts'
import { createUpstream } from '#core/agents/upstream/upstream.ts'
import { systemRuntime } from '#core/base/runtime.ts'
import { ampleLimits, limitsOf } from '#core/limits/limits.test-support.ts'
import type { LimitVerdict } from '#core/limits/limits.ts'
import type { Principal } from '#core/requests/principal.ts'
import { withListingLimit } from './agent-listing.ts'

const ADDRESS = '10.0.0.1'
const via = {
  kind: 'key',
  prefix: 'tl_000000000',
  keyId: 'k',
  permissions: ['chat'],
  allowedAgents: [],
} as const
const caller: Principal = { userId: 'u', role: 'user', via }

const upstream = createUpstream({ replyBytesMax: 1_000, unsentBytesMax: 1_000 })
const directory = createAgentDirectory({
  catalog: createAgentCatalog([]),
  upstream,
  runtime: systemRuntime,
  loads: { read: async () => [] },
})

test('a listing that is not public requires a caller, which is checked before the rate limit', async () => {
  const agents = withListingLimit(directory, { limits: ampleLimits(), isPublic: false })
  const verdicts: LimitVerdict[] = []
  const onLimit = (verdict: LimitVerdict) => verdicts.push(verdict)
  await expect(agents.list(undefined, ADDRESS, onLimit)).rejects.toMatchObject({
    reason: 'credential_missing',
  })
  expect(verdicts).toEqual([])
  expect(await agents.list(caller, ADDRESS, onLimit)).toEqual([])
  expect(verdicts).toMatchObject([{ allowed: true }])
})

test('the rate limit counts by credential or by network, and its state is reported', async () => {
  const limits = limitsOf({ points: 1, windowSeconds: 60 })
  const agents = withListingLimit(directory, { limits, isPublic: true })
  const verdicts: LimitVerdict[] = []
  const list = (caller: Principal | undefined, address: string) =>
    agents
      .list(caller, address, (verdict) => verdicts.push(verdict))
      .then(
        () => 'listed',
        (error: { reason: string; retryAfterSeconds: number }) => [error.reason, error.retryAfterSeconds > 0],
      )
  expect(await list(undefined, '2001:db8::1')).toBe('listed')
  expect(await list(undefined, '2001:db8::2')).toEqual(['rate_limited', true])
  expect(await list(undefined, ADDRESS)).toBe('listed')
  expect(await list(caller, ADDRESS)).toBe('listed')
  expect(await list(caller, '10.9.9.9')).toEqual(['rate_limited', true])
  expect(verdicts.map(({ allowed }) => allowed)).toEqual([true, false, true, true, false])
})
