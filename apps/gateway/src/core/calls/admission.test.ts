import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { OPENING_MS } from '#core/auth/users.test-support.ts'
import { Problem } from '#core/errors.ts'
import { createKeyLimitsReader } from '#core/keys/key-limits.ts'
import type { CallKind, Ledger } from '#core/ledger/ledger.ts'
import { createLimits, type LimitVerdict } from '#core/limits/limits.ts'
import type { Principal } from '#core/principal.ts'
import {
  admissionOf,
  openUsageServices,
  type TestKey,
  type UsageServices,
} from '#core/reports/usage.test-support.ts'
import { type AdmissionService, createAdmission } from './admission.ts'
import type { CallEvent } from './call-events.ts'

let services: UsageServices
let ledger: Ledger
let owner: Principal
let admission: AdmissionService
let verdicts: LimitVerdict[]

beforeAll(async () => {
  services = await openUsageServices()
  ledger = services.processOf()
  owner = await services.join('premium')
}, OPENING_MS)
afterAll(async () => {
  await ledger.close(5_000)
  await services.database.close()
})

beforeEach(() => {
  verdicts = []
  const limits = createLimits({
    chat: perMinute(4),
    upload: perMinute(2),
    agents: perMinute(1),
    reports: perMinute(1),
    calls: perMinute(1),
    reads: perMinute(1),
    login: perMinute(1),
    loginAddress: perMinute(1),
    refusedKeys: perMinute(2),
    refusedDocuments: perMinute(60),
  })
  const { runtime, database } = services
  admission = createAdmission({
    limits,
    keyLimits: createKeyLimitsReader({ sql: database.sql, runtime }),
    ledger,
    observe: () => undefined,
  })
})

function perMinute(points: number) {
  return { points, windowSeconds: 60 }
}

function keepVerdict(event: CallEvent): void {
  if (event.type === 'limited') verdicts.push(event.verdict)
}

/** The reason of the rejection, or `admitted`. */
async function ask(key: Pick<TestKey, 'hash'>, kind: CallKind, address = '192.0.2.1'): Promise<string> {
  try {
    await admission.admit({ ...admissionOf(key, { kind }), address }, { observer: keepVerdict })
    return 'admitted'
  } catch (error) {
    if (error instanceof Problem) return error.reason
    throw error
  }
}

async function askTimes(times: number, key: Pick<TestKey, 'hash'>, kind: CallKind): Promise<string[]> {
  const answers: string[] = []
  for (let time = 0; time < times; time += 1) answers.push(await ask(key, kind))
  return answers
}

async function keyWith(permission: CallKind, limits: object = {}): Promise<TestKey> {
  const key = await services.ownKey(owner)
  await services.database.prisma.apiKey.update({
    where: { id: key.id },
    data: { permissions: [permission], ...limits },
  })
  return key
}

async function countOf({ id }: TestKey): Promise<number> {
  return services.database.prisma.call.count({ where: { keyId: id } })
}

const unknown = { hash: '0'.repeat(64) }

describe.each([
  ['chat', 'upload', 4],
  ['upload', 'chat', 2],
] as const)('a call of the kind %s', (kind, other, points) => {
  test('requires the permission of its name', async () => {
    const key = await keyWith(other)
    expect(await ask(key, kind)).toBe('permission_denied')
    expect(await ask(key, other)).toBe('admitted')
  })

  test('has its own limit, and calls over it are not counted', async () => {
    const key = await services.ownKey(owner)
    expect(await askTimes(points + 1, key, kind)).toEqual([...Array(points).fill('admitted'), 'rate_limited'])
    expect(verdicts.map(({ policy, remaining }) => [policy, remaining]).at(-1)).toEqual([kind, 0])
    expect(await countOf(key)).toBe(points)
    expect(await ask(key, other)).toBe('admitted')
  })

  test("has the key's own limit of its kind", async () => {
    const key = await keyWith(kind, { chatPerMinute: 4, uploadPerMinute: 4, [`${kind}PerMinute`]: 1 })
    expect(await askTimes(2, key, kind)).toEqual(['admitted', 'rate_limited'])
  })
})

test('a caller over its limit receives the delay and the state of its window', async () => {
  const key = await services.ownKey(owner)
  await askTimes(2, key, 'upload')
  const request = { ...admissionOf(key, { kind: 'upload' }), address: '192.0.2.1' }
  const refused = admission.admit(request, { observer: keepVerdict })
  await expect(refused).rejects.toMatchObject({
    reason: 'rate_limited',
    retryAfterSeconds: expect.any(Number),
  })
  expect(verdicts.map(({ allowed }) => allowed)).toEqual([true, true, false])
})

test('an invalid key counts against its address, and an unknown one takes no point of a key', async () => {
  const revoked = await services.ownKey(owner)
  await services.keys.revoke(owner, revoked.id)
  expect([await ask(unknown, 'chat'), await ask(revoked, 'upload')]).toEqual(['key_unknown', 'key_revoked'])
  expect(await ask(unknown, 'chat')).toBe('rate_limited')
  expect(await ask(unknown, 'chat', '198.51.100.7')).toBe('key_unknown')
  expect(verdicts).toHaveLength(1)
})

test('a call that is rejected for another reason than its key does not count against the address', async () => {
  const key = await keyWith('upload')
  expect(await askTimes(3, key, 'chat')).toEqual(Array(3).fill('permission_denied'))
  expect(await ask(unknown, 'chat')).toBe('key_unknown')
})
