import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { OPENING_MS } from '#core/auth/users.test-support.ts'
import type { Sql } from '#core/database/database.ts'
import type { Principal } from '#core/principal.ts'
import { openUsageServices, type UsageServices } from '#core/usage/usage.test-support.ts'
import { createKeyWatch } from './key-watch.ts'

let services: UsageServices
let operator: Principal
let owner: Principal
const onAnswer = vi.fn<(answers: boolean, error?: unknown) => void>()
/** Fails the statements of the watch while it is set. */
let outage: Error | undefined
const statements = vi.fn()

const sql: Sql = {
  query(text, values) {
    statements()
    return outage === undefined ? services.database.sql.query(text, values) : Promise.reject(outage)
  },
}

beforeAll(async () => {
  services = await openUsageServices()
  operator = await services.join('admin')
}, OPENING_MS)
beforeEach(async () => {
  owner = await services.join('premium')
  outage = undefined
  statements.mockClear()
  onAnswer.mockClear()
})
afterAll(() => services.database.close())

const watchOf = (everyMs = 1) => createKeyWatch({ sql, runtime: services.runtime, onAnswer, everyMs })

/** Watches a key, and resolves with the reason for which it is refused. */
function refusalOf(watch: ReturnType<typeof watchOf>, keyId: string): Promise<string> {
  return new Promise((resolve) => {
    const end = watch.watch(keyId, (reason) => {
      end()
      resolve(reason)
    })
  })
}

test('every call of a key is told why the key is not valid any more, and those of other keys go on', async () => {
  const suspended = await services.join('premium')
  const [revoked, expired, ofSuspended, kept] = [
    ...[await services.ownKey(owner), await services.ownKey(owner)],
    ...[await services.ownKey(suspended), await services.ownKey(owner)],
  ] as const
  const watch = watchOf()
  const onKept = vi.fn()
  const endKept = watch.watch(kept?.id ?? '', onKept)
  const refusals = [revoked, revoked, expired, ofSuspended].map((key) => refusalOf(watch, key?.id ?? ''))
  await services.keys.revoke(owner, revoked?.id ?? '')
  await services.database.sql.query("UPDATE api_keys SET expires_at = now() - interval '1 s' WHERE id = $1", [
    expired?.id,
  ])
  await services.users.update(operator, suspended.userId, { status: 'suspended' })
  expect(await Promise.all(refusals)).toEqual([
    'key_revoked',
    'key_revoked',
    'key_expired',
    'owner_suspended',
  ])
  expect(onKept).not.toHaveBeenCalled()
  endKept()
})

test('a thousand calls cost one statement in a period, a short call costs none, and neither do calls that have ended', async () => {
  const keys = await Promise.all(Array.from({ length: 10 }, () => services.ownKey(owner)))
  vi.useFakeTimers()
  try {
    const watch = watchOf(1_000)
    const open = () => Array.from({ length: 1_000 }, (_, n) => watch.watch(keys[n % 10]?.id ?? '', () => 0))
    for (let n = 0; n < 5; n += 1) {
      const ends = open()
      await vi.advanceTimersByTimeAsync(900)
      for (const end of ends) end()
    }
    expect(statements).not.toHaveBeenCalled()
    const ends = open()
    await vi.advanceTimersByTimeAsync(1_500)
    expect(statements).toHaveBeenCalledTimes(1)
    for (const end of ends) end()
    await vi.advanceTimersByTimeAsync(60_000)
    expect(statements).toHaveBeenCalledTimes(1)
  } finally {
    vi.useRealTimers()
  }
})

test('an outage of the database ends no call and is reported once, and the keys are read again after it', async () => {
  const [key, other] = [await services.ownKey(owner), await services.ownKey(owner)]
  const watch = watchOf()
  const onRefused = vi.fn()
  const end = watch.watch(key.id, onRefused)
  const endOther = watch.watch(other.id, () => undefined)
  outage = new Error('the database is away')
  await vi.waitFor(() => expect(statements.mock.calls.length).toBeGreaterThan(5), 20_000)
  await services.keys.revoke(owner, key.id)
  expect(onRefused).not.toHaveBeenCalled()
  outage = undefined
  await vi.waitFor(() => expect(onRefused).toHaveBeenCalledWith('key_revoked'), 20_000)
  end()
  await vi.waitFor(() => expect(onAnswer).toHaveBeenCalledTimes(2), 20_000)
  expect(onAnswer.mock.calls.map(([answers]) => answers)).toEqual([false, true])
  endOther()
})
