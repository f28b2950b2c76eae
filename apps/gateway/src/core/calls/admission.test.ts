import { v7 } from 'uuid'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { hashKey } from '#core/accounts/keys/key-format.ts'
import type { KeyUpdate } from '#core/accounts/keys/key-input.ts'
import { createRememberedKeys } from '#core/accounts/keys/key-limits.ts'
import { Problem } from '#core/base/errors/errors.ts'
import type { AttachedCall, KeptAdmission } from '#core/ledger/admission-row.ts'
import type { CallKind } from '#core/ledger/call-kinds.ts'
import { createClaimLookUp } from '#core/ledger/kept-claims.ts'
import type { Ledger } from '#core/ledger/ledger.ts'
import { rulesOf } from '#core/limits/limits.test-support.ts'
import { createLimits, type LimitVerdict } from '#core/limits/limits.ts'
import {
  admissionOf,
  openUsageServices,
  type TestKey,
  type UsageServices,
} from '#core/reports/usage.test-support.ts'
import type { Principal } from '#core/requests/principal.ts'
import { type AdmissionService, createAdmission } from './admission.ts'
import type { CallEvent } from './call-events.ts'
import type { CallSlot } from './call-slot.ts'

let services: UsageServices
let ledger: Ledger
let owner: Principal
let admission: AdmissionService
let verdicts: LimitVerdict[]
/** What a call takes on its way, in this order. */
let steps: string[]

beforeAll(async () => {
  services = await openUsageServices()
  ledger = services.processOf()
  owner = await services.join('premium')
})
afterAll(async () => {
  await ledger.close(5_000)
  await services.database.close()
})

beforeEach(() => {
  verdicts = []
  steps = []
  const limits = createLimits({
    ...rulesOf(perMinute(1)),
    chat: perMinute(4),
    upload: perMinute(2),
    refusedKeys: perMinute(2),
  })
  const { runtime, database } = services
  const lookUpClaim = createClaimLookUp(database)
  admission = createAdmission({
    limits,
    keyLimits: createRememberedKeys({ sql: database.sql, runtime }).read,
    lookUpClaim(call) {
      steps.push('claim')
      return lookUpClaim(call)
    },
    ledger: {
      admit(call) {
        steps.push('ledger')
        return ledger.admit(call)
      },
    },
    observe: ({ type }) => steps.push(type),
  })
})

function perMinute(points: number) {
  return { points, windowSeconds: 60 }
}

function keepVerdict(event: CallEvent): void {
  if (event.type === 'limited') verdicts.push(event.verdict)
}

/** The reason of the rejection, or `admitted`. */
async function ask(
  key: Pick<TestKey, 'id' | 'hash'>,
  kind: CallKind,
  address = '192.0.2.1',
): Promise<string> {
  try {
    await admission.admit({ ...admissionOf(key, { kind }), address }, { observer: keepVerdict })
    return 'admitted'
  } catch (error) {
    if (error instanceof Problem) return error.reason
    throw error
  }
}

async function askTimes(times: number, key: Pick<TestKey, 'id' | 'hash'>, kind: CallKind): Promise<string[]> {
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

const unknown = { id: v7(), hash: '0'.repeat(64) }

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

test('a refusal names the key, its owner, the agent and the limit, also in the place of a refused key', async () => {
  const key = await keyWith('chat', { chatPerMinute: 1 })
  const known = { keyId: key.id, ownerId: key.ownerId }
  const refusalOf = async (of: Pick<TestKey, 'id' | 'hash'>) => {
    const request = { ...admissionOf(of), address: '192.0.2.1' }
    return admission.admit(request).then(
      () => undefined,
      (problem: Problem) => [problem.reason, problem.limit, problem.refused],
    )
  }
  const { agent } = admissionOf(key)
  expect(await refusalOf(key)).toBeUndefined()
  expect(await refusalOf(key)).toEqual(['rate_limited', 'chat', { ...known, agent }])
  const revoked = await services.ownKey(owner)
  await services.keys.revoke(owner, revoked.id)
  const ofRevoked = { keyId: revoked.id, ownerId: revoked.ownerId, agent }
  expect(await refusalOf(revoked)).toEqual(['key_revoked', undefined, ofRevoked])
  expect(await refusalOf(unknown)).toEqual(['key_unknown', undefined, { agent }])
  expect(await refusalOf(revoked)).toEqual(['rate_limited', 'refused_keys', ofRevoked])
})

test('a call that is rejected for another reason than its key does not count against the address', async () => {
  const key = await keyWith('upload')
  expect(await askTimes(3, key, 'chat')).toEqual(Array(3).fill('permission_denied'))
  expect(await ask(unknown, 'chat')).toBe('key_unknown')
})

describe('a secret that was stolen takes no point of its key, and no place', () => {
  const [HOME, ELSEWHERE] = ['192.0.2.1', '198.51.100.7']
  const takeFor = () => void steps.push('place')

  async function ofThief(key: Pick<TestKey, 'id' | 'hash'>): Promise<unknown> {
    steps = []
    const request = { ...admissionOf(key), address: ELSEWHERE }
    const answer = await admission
      .admit(request, { place: { takeFor } })
      .catch(({ reason }: Problem) => reason)
    return [answer, steps]
  }

  test('from an address that the key does not allow, which does not count against the address either', async () => {
    const key = await keyWith('chat', { chatPerMinute: 1, allowedAddresses: ['192.0.2.0/28'] })
    for (let call = 0; call < 4; call += 1) expect(await ofThief(key)).toEqual(['address_denied', []])
    expect(await ask(key, 'chat', HOME)).toBe('admitted')
    expect(await ask(key, 'chat', `::ffff:${HOME}`)).toBe('rate_limited')
    expect(await ask(unknown, 'chat', ELSEWHERE)).toBe('key_unknown')
  })

  test('once it was replaced, and counts against its address', async () => {
    const key = await keyWith('chat', { chatPerMinute: 1 })
    const { fullKey } = await services.keys.rotate(owner, key.id, { overlapSeconds: 0 })
    expect([await ofThief(key), await ofThief(key)]).toEqual(Array(2).fill(['key_rotated', []]))
    expect(await ofThief(key)).toEqual(['rate_limited', []])
    const present = { id: key.id, hash: hashKey(fullKey) }
    expect(await askTimes(2, present, 'chat')).toEqual(['admitted', 'rate_limited'])
  })
})

test('both secrets of a key have one limit', async () => {
  const key = await keyWith('chat', { chatPerMinute: 2 })
  const { fullKey } = await services.keys.rotate(owner, key.id, {})
  const present = { id: key.id, hash: hashKey(fullKey) }
  expect([await ask(key, 'chat'), await ask(present, 'chat')]).toEqual(['admitted', 'admitted'])
  expect([await ask(key, 'chat'), await ask(present, 'chat')]).toEqual(['rate_limited', 'rate_limited'])
})

test('what is remembered of a key refuses no call: it is admitted as soon as it is resumed, moved or bound to the address', async () => {
  const key = await services.ownKey(owner)
  const change = (data: KeyUpdate) => services.keys.update(owner, key.id, data)
  await change({ isActive: false })
  expect(await ask(key, 'chat')).toBe('key_paused')
  await change({ isActive: true, allowedAddresses: ['2001:db8::/32'] })
  expect(await ask(key, 'chat')).toBe('address_denied')
  await change({ allowedAddresses: ['192.0.2.1'] })
  expect(await ask(key, 'chat')).toBe('admitted')
  // The other way round the admission decides.
  await change({ isActive: false })
  expect(await ask(key, 'chat')).toBe('key_paused')
  await change({ isActive: true, allowedAddresses: ['192.0.2.2'] })
  expect(await ask(key, 'chat')).toBe('address_denied')
})

describe('a call with an Idempotency-Key', () => {
  const place = { takeFor: () => void steps.push('place') }
  const slot: Pick<CallSlot, 'takeFor'> = {
    takeFor() {
      steps.push('slot')
      return undefined
    },
  }

  function keptOnce(): KeptAdmission {
    const hex = () => services.runtime.randomBytes(32).toString('hex')
    return { keyHash: hex(), fingerprint: hex(), stream: false }
  }

  function admit(
    key: Pick<TestKey, 'id' | 'hash'>,
    kept?: KeptAdmission,
    waiting: Pick<CallSlot, 'takeFor'> = slot,
  ) {
    const request = { ...admissionOf(key), ...(kept && { kept }), address: '192.0.2.1' }
    return admission.admit(request, { place, slot: waiting })
  }

  const attachedTo = ({ callId }: { callId: string }, { id, ownerId }: TestKey): AttachedCall => ({
    keyId: id,
    ownerId,
    attachedTo: callId,
  })

  /** Admits the first call with this key. */
  async function firstOf(key: TestKey, kept: KeptAdmission): Promise<{ callId: string }> {
    const admitted = await admit(key, kept)
    if (admitted.attachedTo !== undefined) throw new Error('it is not the first one')
    steps = []
    return admitted.record
  }

  test('is looked up after the rate limit and before the slot, unlike one without', async () => {
    const key = await services.ownKey(owner)
    await admit(key, keptOnce())
    expect(steps).toEqual(['place', 'limited', 'claim', 'slot', 'ledger', 'admitted'])
    steps = []
    await admit(key)
    expect(steps).toEqual(['place', 'limited', 'slot', 'ledger', 'admitted'])
  })

  test('is attached to the earlier call without slot and ledger, and is not admitted', async () => {
    const key = await services.ownKey(owner)
    const kept = keptOnce()
    const first = await firstOf(key, kept)
    expect(await admit(key, kept)).toEqual(attachedTo(first, key))
    expect(steps).toEqual(['place', 'limited', 'claim'])
    expect(await countOf(key)).toBe(1)
  })

  test('takes a point of the rate limit each time', async () => {
    const key = await services.ownKey(owner)
    const kept = keptOnce()
    await firstOf(key, kept)
    for (let time = 0; time < 3; time += 1) await admit(key, kept)
    steps = []
    await expect(admit(key, kept)).rejects.toMatchObject({ reason: 'rate_limited' })
    expect(steps).toEqual(['place', 'limited'])
  })

  test('that is claimed by another call while it waits for its slot is attached by the ledger', async () => {
    const key = await services.ownKey(owner)
    const kept = keptOnce()
    const first = { ...admissionOf(key), kept }
    const takeFor = async () => {
      steps.push('slot')
      await ledger.admit(first)
    }
    expect(await admit(key, kept, { takeFor })).toEqual(attachedTo(first, key))
    expect(steps).toEqual(['place', 'limited', 'claim', 'slot', 'ledger'])
    expect(await countOf(key)).toBe(1)
  })

  test('that asks something else is refused before it takes a slot', async () => {
    const key = await services.ownKey(owner)
    const kept = keptOnce()
    await firstOf(key, kept)
    const other = { ...keptOnce(), keyHash: kept.keyHash }
    await expect(admit(key, other)).rejects.toMatchObject({ reason: 'idempotency_mismatch' })
    expect(steps).toEqual(['place', 'limited', 'claim'])
  })

  test('gets nothing for a key that is revoked, which counts against the address', async () => {
    const key = await services.ownKey(owner)
    const kept = keptOnce()
    await firstOf(key, kept)
    await services.keys.revoke(owner, key.id)
    const refusals: string[] = []
    for (let time = 0; time < 3; time += 1)
      await admit(key, kept).catch((error: Problem) => refusals.push(error.reason))
    expect(refusals).toEqual(['key_revoked', 'key_revoked', 'rate_limited'])
    expect(steps).not.toContain('slot')
  })
})
