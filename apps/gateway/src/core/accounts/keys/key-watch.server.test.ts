import { setImmediate as turnOver } from 'node:timers/promises'
import { v7 } from 'uuid'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { openUserServices, type UserServices } from '#core/accounts/auth/users.test-support.ts'
import type { Sql } from '#core/database/database.ts'
import type { Principal } from '#core/requests/principal.ts'
import type { KeyUpdate } from './key-input.ts'
import { createKeyWatch, type KeyInUse, type KeyWatchDeps } from './key-watch.ts'

const serverUrl = process.env.E2E_DATABASE_URL
const kind = serverUrl === undefined ? 'embedded' : 'server'
const EVERY_MS = 500
const ADDRESS = '192.0.2.1'
const [INSTANCE, OTHER_INSTANCE] = [v7(), v7()]

describe(kind, () => {
  let services: UserServices
  let operator: Principal
  let owner: Principal

  /** The values of the statements of the watch: the ids that it asks for as JSON, or a time since which it reads changes. */
  const asked = vi.fn<(value: unknown) => void>()
  const onAnswer = vi.fn<(answers: boolean, error?: unknown) => void>()
  let elapsedMs: number
  /** The statement of the last look. */
  let last: Promise<unknown>
  /** What a test does to a statement of the watch. */
  let interfere: (rows: () => Promise<unknown[]>) => Promise<unknown[]>

  const sql: Sql = {
    query<Row>(text: string, values: readonly unknown[] = []) {
      asked(values[0])
      const rows = interfere(() => services.database.sql.query(text, values)) as Promise<Row[]>
      last = rows.catch(() => undefined)
      return rows
    },
  }

  beforeAll(async () => {
    services = await openUserServices(serverUrl)
    operator = await services.join('admin')
  })
  beforeEach(async () => {
    owner = await services.join('premium')
    elapsedMs = 0
    interfere = (rows) => rows()
    asked.mockClear()
    onAnswer.mockClear()
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  })
  afterEach(() => {
    vi.useRealTimers()
  })
  afterAll(() => services.database.close())

  const watchOf = (more: Partial<KeyWatchDeps> = {}) =>
    createKeyWatch({ sql, runtime: { elapsedMs: () => elapsedMs }, instanceId: INSTANCE, onAnswer, ...more })
  type Watch = ReturnType<typeof watchOf>

  async function pass(ms: number): Promise<void> {
    elapsedMs += ms
    await vi.advanceTimersByTimeAsync(ms)
  }

  /** Lets one look begin and end. */
  async function look(): Promise<void> {
    const looks = asked.mock.calls.length
    await pass(EVERY_MS)
    expect(asked).toHaveBeenCalledTimes(looks + 1)
    await last
    // Ends are spread over turns of the event loop.
    for (let turn = 0; turn < 20; turn += 1) await turnOver()
  }

  async function newKey(of = owner): Promise<KeyInUse> {
    const { id } = await services.keyOf(of)
    return { keyId: id, ownerId: of.userId, address: ADDRESS }
  }

  /** Watches a call, and returns the reasons for which it was ended. */
  function run(watch: Watch, key: KeyInUse): { readonly reasons: string[]; end(): void } {
    const reasons: string[] = []
    return { reasons, end: watch.watch(key, (reason) => reasons.push(reason)) }
  }

  /** The row of a running call. */
  async function newCall({ keyId, ownerId }: KeyInUse, instance = INSTANCE): Promise<string> {
    const id = v7()
    await services.database.sql.query(
      `INSERT INTO calls (id, request_id, key_id, owner_id, kind, face, agent, instance, admitted_at)
       VALUES ($1, '', $2, $3, 'chat', 'rest', 'dify', $4, now())`,
      [id, keyId, ownerId, instance],
    )
    return id
  }

  const requestStop = (callId: string) =>
    services.database.sql.query('UPDATE calls SET stop_requested_at = now() WHERE id = $1', [callId])
  const revoke = ({ keyId }: KeyInUse) => services.keys.revoke(operator, keyId)
  const update = ({ keyId }: KeyInUse, change: KeyUpdate) => services.keys.update(operator, keyId, change)
  const pause = (key: KeyInUse) => update(key, { isActive: false })
  const become = (status: 'active' | 'suspended', { userId } = owner) =>
    services.users.update(operator, userId, { status })
  const expire = ({ keyId }: KeyInUse) =>
    services.database.sql.query('UPDATE api_keys SET expires_at = now() WHERE id = $1', [keyId])

  describe.each([
    ['that are asked for by their ids', 500],
    ['of which the changes are read', 0],
  ])('keys %s', (_, askedMax) => {
    test('end all of their calls with the reason, and those of other keys go on', async () => {
      const suspended = await services.join('premium')
      const [revoked, expired, kept] = [await newKey(), await newKey(), await newKey()]
      const ofSuspended = [await newKey(suspended), await newKey(suspended)]
      const watch = watchOf({ askedMax })
      const calls = [revoked, revoked, expired, ...ofSuspended].map((key) => run(watch, key))
      const running = run(watch, kept)
      await look()
      expect([...calls, running].flatMap(({ reasons }) => reasons)).toEqual([])
      await revoke(revoked)
      await expire(expired)
      await become('suspended', suspended)
      await look()
      expect(calls.map(({ reasons }) => reasons)).toEqual([
        ...[['key_revoked'], ['key_revoked'], ['key_expired']],
        ...[['owner_suspended'], ['owner_suspended']],
      ])
      expect(running.reasons).toEqual([])
    })

    test('have the reason that an admission gives, where there are several', async () => {
      const [revoked, expired, paused] = [await newKey(), await newKey(), await newKey()]
      const watch = watchOf({ askedMax })
      const calls = [revoked, expired, paused].map((key) => run(watch, key))
      await look()
      for (const key of [revoked, expired, paused]) await pause(key)
      for (const key of [revoked, expired]) await expire(key)
      await revoke(revoked)
      await become('suspended')
      await look()
      expect(calls.map(({ reasons }) => reasons)).toEqual([
        ['key_revoked'],
        ['key_expired'],
        ['owner_suspended'],
      ])
    })

    test('end with a pause, and not with a pause that is lifted before the next look, nor with a rotation', async () => {
      const [paused, resumed, rotated] = [await newKey(), await newKey(), await newKey()]
      const watch = watchOf({ askedMax })
      const calls = [paused, resumed, rotated].map((key) => run(watch, key))
      await look()
      for (const key of [paused, resumed]) await pause(key)
      await update(resumed, { isActive: true })
      await services.keys.rotate(owner, rotated.keyId, { overlapSeconds: 0 })
      await look()
      expect(calls.map(({ reasons }) => reasons)).toEqual([['key_paused'], [], []])
    })

    test('end at an address that they do not allow any more, however long the database was away, and go on at others', async () => {
      const key = await newKey()
      const watch = watchOf({ askedMax })
      const addresses = ['192.0.2.1', '::ffff:192.0.2.9', '192.0.3.1', '2001:db8::1', undefined]
      const calls = addresses.map((address) => run(watch, { ...key, address }))
      const other = run(watch, { ...(await newKey()), address: '192.0.3.1' })
      // The last answer was a minute ago, shortly before the change.
      interfere = async (rows) => {
        const [row] = (await rows()) as [{ nowMs: number }]
        return [{ ...row, nowMs: row.nowMs - 60_000 }]
      }
      await look()
      interfere = (rows) => rows()
      await update(key, { allowedAddresses: ['192.0.2.0/24'] })
      const age = "UPDATE api_keys SET restricted_at = restricted_at - interval '50 s' WHERE id = $1"
      await services.database.sql.query(age, [key.keyId])
      await look()
      const denied = ['address_denied']
      expect(calls.map(({ reasons }) => reasons)).toEqual([[], [], denied, denied, denied])
      expect(other.reasons).toEqual([])
    })

    test('end also a call that was admitted just before, and whose watch began after the look that saw it', async () => {
      const [other, key] = [await newKey(), await newKey()]
      const watch = watchOf({ askedMax })
      run(watch, other)
      await look()
      await revoke(key)
      await look()
      const call = run(watch, key)
      await look()
      expect(call.reasons).toEqual(['key_revoked'])
    })

    test('end although the process that changed them has a wrong clock', async () => {
      const suspended = await services.join('premium')
      const [revoked, ofSuspended] = [await newKey(), await newKey(suspended)]
      const watch = watchOf({ askedMax })
      const calls = [revoked, ofSuspended].map((key) => run(watch, key))
      await look()
      services.clock.passSeconds(-86_400)
      await revoke(revoked)
      await become('suspended', suspended)
      services.clock.passSeconds(86_400)
      await look()
      expect(calls.map(({ reasons }) => reasons)).toEqual([['key_revoked'], ['owner_suspended']])
    })

    test('end no call while the database does not answer, which is reported once, and end them after it', async () => {
      const [key, kept] = [await newKey(), await newKey()]
      const watch = watchOf({ askedMax })
      const [call, running] = [run(watch, key), run(watch, kept)]
      await look()
      interfere = () => Promise.reject(new Error('the database is away'))
      for (let looks = 0; looks < 100; looks += 1) {
        await look()
        if (looks === 0) await revoke(key)
      }
      expect([call.reasons, onAnswer.mock.calls]).toEqual([[], [[false, expect.any(Error)]]])
      interfere = (rows) => rows()
      await look()
      expect([call.reasons, running.reasons]).toEqual([['key_revoked'], []])
      expect(onAnswer.mock.calls.map(([answers]) => answers)).toEqual([false, true])
    })

    test('of an owner who is active again before the next look go on', async () => {
      const watch = watchOf({ askedMax })
      const call = run(watch, await newKey())
      await look()
      await become('suspended')
      await become('active')
      await look()
      expect(call.reasons).toEqual([])
    })

    test('end no call that was admitted after what a look has seen: the owner is active again', async () => {
      const key = await newKey()
      const watch = watchOf({ askedMax })
      const before = run(watch, key)
      await look()
      await become('suspended')
      const answer = Promise.withResolvers<void>()
      const seen = Promise.withResolvers<void>()
      interfere = async (rows) => {
        const found = await rows()
        seen.resolve()
        await answer.promise
        return found
      }
      const looking = look()
      await seen.promise
      await become('active')
      const after = run(watch, key)
      answer.resolve()
      await looking
      expect([before.reasons, after.reasons]).toEqual([['owner_suspended'], []])
      await look()
      expect(after.reasons).toEqual([])
    })
  })

  describe.each([
    ['that are asked for by their ids', 500],
    ['of which the changes are read', 0],
  ])('beside keys %s', (_, askedMax) => {
    test('a call ends with its stop, and the others of its key go on, also where it was requested before the first look', async () => {
      const [key, idle] = [await newKey(), await newKey()]
      const ids = [await newCall(key), await newCall(key), await newCall(idle)]
      const [stopped = '', running, early = ''] = ids
      await requestStop(early)
      const watch = watchOf({ askedMax })
      const calls = [
        run(watch, { ...key, callId: stopped }),
        run(watch, { ...key, callId: running }),
        run(watch, { ...idle, callId: early }),
        // A reader of a kept reply.
        run(watch, key),
      ]
      await look()
      expect(calls.map(({ reasons }) => reasons)).toEqual([[], [], ['stopped'], []])
      calls[2]?.end()
      await requestStop(stopped)
      await look()
      expect(calls.map(({ reasons }) => reasons)).toEqual([['stopped'], [], ['stopped'], []])
    })

    test('a call whose watch begins while a look that has seen its stop is on its way ends with the next look at the latest', async () => {
      const key = await newKey()
      const [first, late] = [await newCall(key), await newCall(key)]
      const watch = watchOf({ askedMax })
      run(watch, { ...key, callId: first })
      await look()
      await requestStop(late)
      await look()
      const call = run(watch, { ...key, callId: late })
      await look()
      expect(call.reasons).toEqual(['stopped'])
    })

    test('no call ends while the database does not answer, and its stop is seen after it, however long that took', async () => {
      const key = await newKey()
      const callId = await newCall(key)
      const watch = watchOf({ askedMax })
      const call = run(watch, { ...key, callId })
      interfere = () => Promise.reject(new Error('the database is away'))
      await look()
      await requestStop(callId)
      for (let looks = 0; looks < 100; looks += 1) await look()
      expect(call.reasons).toEqual([])
      interfere = (rows) => rows()
      await look()
      expect(call.reasons).toEqual(['stopped'])
    })

    test('stops of calls that have ended, and of those of other processes, are not read', async () => {
      const key = await newKey()
      const [ended, elsewhere] = [await newCall(key), await newCall(key, OTHER_INSTANCE)]
      for (const callId of [ended, elsewhere]) await requestStop(callId)
      await services.database.sql.query("UPDATE calls SET outcome = 'done' WHERE id = $1", [ended])
      const watch = watchOf({ askedMax })
      const calls = [ended, elsewhere].map((callId) => run(watch, { ...key, callId }))
      await look()
      expect(calls.map(({ reasons }) => reasons)).toEqual([[], []])
    })
  })

  test('of few keys each look asks for all, of many only for changes, whatever runs', async () => {
    const keys = [await newKey(), await newKey(), await newKey()] as const
    const watch = watchOf({ askedMax: 2 })
    const calls = keys.map((key) => run(watch, key))
    await look()
    const atFirst = keys.map(({ keyId }) => keyId)
    expect(asked.mock.lastCall).toEqual([JSON.stringify(atFirst)])
    await look()
    expect(asked.mock.lastCall).toEqual([expect.any(Number)])
    for (const call of calls.splice(1, 1)) call.end()
    await look()
    expect(asked.mock.lastCall).toEqual([JSON.stringify([atFirst[0], atFirst[2]])])
    for (const call of calls) call.end()
    await pass(EVERY_MS)
    // Nothing is known of the time without looks.
    for (const key of keys) run(watch, key)
    await look()
    expect(asked.mock.lastCall).toEqual([JSON.stringify(atFirst)])
  })

  test('where the database has set its clock back, all keys are asked for again', async () => {
    const [key, kept] = [await newKey(), await newKey()]
    const watch = watchOf({ askedMax: 0 })
    const calls = [key, kept].map((each) => run(watch, each))
    await look()
    interfere = async (rows) => {
      const [row] = (await rows()) as [{ nowMs: number }]
      return [{ ...row, nowMs: row.nowMs - 3_600_000, refused: [] }]
    }
    await revoke(key)
    await look()
    interfere = (rows) => rows()
    await look()
    expect(asked.mock.calls.map(([value]) => typeof value)).toEqual(['string', 'number', 'string'])
    expect(calls.map(({ reasons }) => reasons)).toEqual([['key_revoked'], []])
  })

  test('a slow answer is not waited for by the period, and only one look is on its way', async () => {
    const watch = watchOf()
    run(watch, await newKey())
    const answer = Promise.withResolvers<void>()
    interfere = async (rows) => {
      await answer.promise
      return rows()
    }
    await pass(2.5 * EVERY_MS)
    expect(asked).toHaveBeenCalledTimes(1)
    answer.resolve()
    await last
    await pass(0.5 * EVERY_MS)
    expect(asked).toHaveBeenCalledTimes(2)
  })

  test('the calls of an owner with a thousand of them end together, and others get their turns meanwhile', async () => {
    const keys = await Promise.all(Array.from({ length: 20 }, () => newKey()))
    const watch = watchOf({ askedMax: 10 })
    const calls = Array.from({ length: 1_000 }, (_, n) => run(watch, keys[n % 20] ?? (keys[0] as KeyInUse)))
    await look()
    await become('suspended')
    let ended = 0
    const steps: number[] = []
    for (const key of keys) watch.watch(key, () => undefined)
    const count = () => {
      const now = calls.filter(({ reasons }) => reasons.length > 0).length
      steps.push(now - ended)
      ended = now
    }
    interfere = async (rows) => {
      const found = await rows()
      void (async () => {
        while (ended < calls.length) {
          await turnOver()
          count()
        }
      })()
      return found
    }
    await look()
    expect(ended).toBe(1_000)
    expect(Math.max(...steps)).toBeLessThanOrEqual(100)
  })
})
