import { expect, test } from 'vitest'
import { Problem } from '#core/base/errors/errors.ts'
import { rulesOf } from '#core/limits/limits.test-support.ts'
import { createLimits } from '#core/limits/limits.ts'
import { hasTooManyRefused, refuseKey } from './refused-keys.ts'

const rules = rulesOf({ points: 2, windowSeconds: 60 })

test('an address with too many rejected keys is limited, and other addresses are not', async () => {
  const limits = createLimits(rules)
  const refuse = (address: string) => refuseKey(limits, address, new Problem('key_unknown'))
  await expect(refuse('10.0.0.1')).rejects.toMatchObject({ reason: 'key_unknown' })
  expect(hasTooManyRefused(limits, '10.0.0.1')).toBe(false)
  await expect(refuse('10.0.0.1')).rejects.toMatchObject({ reason: 'key_unknown' })
  await expect(refuse('10.0.0.1')).rejects.toMatchObject({ reason: 'rate_limited', retryAfterSeconds: 60 })
  await expect(refuse('10.0.0.2')).rejects.toMatchObject({ reason: 'key_unknown' })
  const known = ['10.0.0.1', '::ffff:10.0.0.1', '10.0.0.2'].map((each) => hasTooManyRefused(limits, each))
  expect(known).toEqual([true, true, false])
})
