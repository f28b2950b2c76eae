import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Problem } from '#core/base/errors/errors.ts'
import type { Sql } from '#core/database/database.ts'
import type { GatewayProcess } from '#core/ledger/process-list.ts'
import type { Principal } from '#core/requests/principal.ts'
import { createConfigurations } from './configurations.ts'

const ADMIN: Principal = {
  userId: 'u',
  role: 'admin',
  via: { kind: 'token', tokenId: 't', expiresAt: new Date(0) },
}

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** A process with a file, and the settings that it shares with others. */
function open({ file = 'a', isShared = true } = {}) {
  const world = {
    /** The name of the configuration in the file; a text with a space is a mistake in it. */
    file,
    wanted: undefined as { number: number; fingerprint: string } | undefined,
    /** The description of what was wanted last. */
    before: null as string | null,
    isAway: false,
    served: file,
    reads: 0,
    told: 0,
    differs: [] as (readonly [boolean, string | undefined])[],
    live: [] as { number: number; state: string }[],
  }
  const sql = {
    async query(text: string, values: readonly unknown[] = []) {
      if (world.isAway) throw new Error('away')
      if (!text.includes('INSERT'))
        return world.wanted === undefined ? [] : [{ value: JSON.stringify(world.wanted) }]
      const [, , , fingerprint, step] = values as [string, string, string, string, number]
      world.wanted = { number: (world.wanted?.number ?? 0) + step, fingerprint }
      const { before } = world
      world.before = values[0] as string
      return [{ wanted: JSON.stringify(world.wanted), before }]
    },
  } as Sql
  const of = (name: string) => ({ fingerprint: name, description: { name }, needsRestart: [] })
  const configurations = createConfigurations({
    source: {
      served: () => of(world.served),
      async read() {
        world.reads += 1
        const { file: read } = world
        if (read.includes(' ')) throw new Problem('configuration_invalid', { detail: read })
        return {
          ...of(read),
          take() {
            world.served = read
          },
        }
      },
      changes: (before, after) => (JSON.stringify(before) === JSON.stringify(after) ? [] : ['name']),
    },
    sql,
    isShared,
    runtime: { now: () => new Date(), elapsedMs: () => Date.now() },
    processes: {
      list: async () => world.live.map((configuration) => ({ configuration }) as unknown as GatewayProcess),
    },
    takeWrite: async () => undefined,
    async tell() {
      world.told += 1
    },
    observer: { taken: () => undefined, differs: (...what) => void world.differs.push(what) },
  })
  return { world, configurations }
}

const seconds = (count: number) => vi.advanceTimersByTimeAsync(count * 1_000)

async function following(options?: Parameters<typeof open>[0]) {
  const opened = open(options)
  await opened.configurations.record()
  opened.configurations.watch()
  return opened
}

test('a process follows the reload of another one within seconds, once', async () => {
  const { world, configurations } = await following()
  world.file = 'b'
  world.wanted = { number: 1, fingerprint: 'b' }
  await seconds(2)
  expect(world.served).toBe('b')
  expect(configurations.state()).toMatchObject({ number: 1, fingerprint: 'b' })
  const { reads } = world
  await seconds(20)
  expect(world).toMatchObject({ reads, differs: [] })
  configurations.stop()
})

test('a process tells the others what it serves only when that changes', async () => {
  const { world, configurations } = await following()
  await seconds(20)
  expect(world.told).toBe(0)
  world.file = 'b'
  world.wanted = { number: 1, fingerprint: 'b' }
  await seconds(20)
  expect(world.told).toBe(1)
  configurations.stop()
})

test('a file that is still on its way is waited for', async () => {
  const { world, configurations } = await following()
  world.wanted = { number: 1, fingerprint: 'b' }
  await seconds(50)
  expect(world).toMatchObject({ served: 'a', differs: [] })
  world.file = 'b'
  await seconds(2)
  expect(world).toMatchObject({ served: 'b', differs: [] })
  configurations.stop()
})

test('after a minute the process differs, until a reload finds the same file', async () => {
  const { world, configurations } = await following()
  world.wanted = { number: 1, fingerprint: 'b' }
  await seconds(70)
  expect(world.differs).toEqual([[true, undefined]])
  world.file = 'b'
  await seconds(70)
  expect(world.served).toBe('a')
  world.wanted = { number: 2, fingerprint: 'b' }
  await seconds(2)
  expect(world).toMatchObject({
    served: 'b',
    differs: [
      [true, undefined],
      [false, undefined],
    ],
  })
  configurations.stop()
})

test('a mistake in its own file is told to the others at once, and changes nothing', async () => {
  const { world, configurations } = await following()
  world.file = 'agents.x: wrong'
  world.wanted = { number: 1, fingerprint: 'b' }
  const { told } = world
  await seconds(2)
  expect(configurations.state()).toMatchObject({ number: 1, fingerprint: 'a', error: 'agents.x: wrong' })
  expect(world.told).toBe(told + 1)
  await seconds(70)
  expect(world.differs).toEqual([[true, 'agents.x: wrong']])
  world.file = 'b'
  world.wanted = { number: 2, fingerprint: 'b' }
  await seconds(2)
  expect(configurations.state()).not.toHaveProperty('error')
  configurations.stop()
})

test('a process that has started with another configuration makes the others differ after a minute', async () => {
  const { world, configurations } = await following()
  world.wanted = { number: 0, fingerprint: 'b' }
  await seconds(50)
  expect(world.differs).toEqual([])
  await seconds(20)
  expect(world).toMatchObject({ served: 'a', differs: [[true, undefined]] })
  world.wanted = { number: 0, fingerprint: 'a' }
  await seconds(2)
  expect(world.differs.at(-1)).toEqual([false, undefined])
  configurations.stop()
})

test('a database that is away delays a reload, and ends nothing', async () => {
  const { world, configurations } = await following()
  world.isAway = true
  world.file = 'b'
  world.wanted = { number: 1, fingerprint: 'b' }
  await seconds(30)
  await expect(configurations.reload(ADMIN)).rejects.toThrow('away')
  expect(world.served).toBe('a')
  world.isAway = false
  await seconds(2)
  expect(world.served).toBe('b')
  configurations.stop()
})

test('a start serves what its file has after the last reload, also if the file was changed while it started', async () => {
  const { world, configurations } = open()
  world.wanted = { number: 4, fingerprint: 'b' }
  world.file = 'b'
  await configurations.record()
  expect(world.served).toBe('b')
  expect(configurations.state()).toMatchObject({ number: 4, fingerprint: 'b' })
})

test('a mistake is told to the caller, and no process is asked to read', async () => {
  const { world, configurations } = await following()
  world.file = 'agents.x: wrong'
  const { wanted } = world
  for (const _try of [1, 2])
    await expect(configurations.reload(ADMIN)).rejects.toMatchObject({
      reason: 'configuration_invalid',
      detail: 'agents.x: wrong',
    })
  expect(world).toMatchObject({ wanted, served: 'a' })
  configurations.stop()
})

test('reloads at the same time come one after the other', async () => {
  const { world, configurations } = await following({ isShared: false })
  world.file = 'b'
  const [first, second] = await Promise.all([configurations.reload(ADMIN), configurations.reload(ADMIN)])
  expect([first.number, second.number]).toEqual([1, 2])
  expect([first.changed, second.changed]).toEqual([['name'], []])
})

test('the answer waits for the processes that live, but not for ever', async () => {
  const { world, configurations } = await following({ isShared: false })
  world.live = [{ number: 0, state: 'pending' }]
  let answered = false
  const reload = configurations.reload(ADMIN).finally(() => {
    answered = true
  })
  await seconds(3)
  expect(answered).toBe(false)
  await seconds(3)
  expect((await reload).processes).toHaveLength(1)
  world.live = [{ number: 2, state: 'current' }]
  expect((await configurations.reload(ADMIN)).number).toBe(2)
})

test('only an administrator may reload', async () => {
  const { world, configurations } = open()
  await expect(configurations.reload({ ...ADMIN, role: 'premium' })).rejects.toMatchObject({
    reason: 'role_denied',
  })
  expect(world.reads).toBe(0)
})
