import { cp, mkdtemp, rename, rm, truncate } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type pg from 'pg'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { isLostConnection } from '#core/base/errors/connection-error.ts'
import { wasNeverSent } from '#core/database/never-sent.ts'
import { type Engine, openEngine } from './engine.ts'
import { embeddedPool, openEmbedded } from './open-embedded.ts'

// Creating a database takes seconds, and longer on a busy machine.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

/** Takes hours, and nothing can interrupt it. */
const ENDLESS = 'SELECT count(*) FROM generate_series(1, 1000000000000)'

const events: string[] = []
let reopened = Promise.withResolvers<void>()
let dataDir: string
let engine: Engine
let pool: pg.Pool

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'trunkline-engine-'))
  engine = await openEngine({
    dataDir,
    answerWithinMs: 2_000,
    observer: {
      made: () => undefined,
      lost: () => events.push('lost'),
      notReopened: () => events.push('not reopened'),
      reopened() {
        events.push('reopened')
        reopened.resolve()
        reopened = Promise.withResolvers()
      },
    },
  })
  pool = embeddedPool(engine)
  await pool.query('CREATE TABLE kept (n integer)')
})
afterAll(async () => {
  await pool?.end()
  await engine?.close()
  await rm(dataDir, { recursive: true })
})

async function errorOf(statement: Promise<unknown>): Promise<unknown> {
  return statement.then(
    () => undefined,
    (error: unknown) => error,
  )
}

async function kept(): Promise<number[]> {
  const { rows } = await pool.query<{ n: number }>('SELECT n FROM kept ORDER BY n')
  return rows.map(({ n }) => n)
}

test('a stuck engine blocks nothing, fails its statements like a lost server, and is opened again', async () => {
  await pool.query('INSERT INTO kept VALUES (1)')
  const back = reopened.promise
  let turns = 0
  const turning = setInterval(() => {
    turns += 1
  }, 20)
  const waiting = errorOf(pool.query('INSERT INTO kept VALUES (2)'))
  const stuck = errorOf(pool.query(ENDLESS))
  const next = errorOf(pool.query('INSERT INTO kept VALUES (3)'))
  expect(await waiting).toBeUndefined()
  const lost = await stuck
  clearInterval(turning)
  expect(turns).toBeGreaterThan(10)
  expect([isLostConnection(lost), wasNeverSent(lost)]).toEqual([true, false])
  const refused = await next
  expect([isLostConnection(refused), wasNeverSent(refused)]).toEqual([true, true])
  await back
  expect(events.splice(0)).toEqual(['lost', 'reopened'])
  expect(await kept()).toEqual([1, 2])
})

test('an engine that ends by itself is opened again as soon as it can be', async () => {
  const back = reopened.promise
  const log = join(dataDir, 'pg_wal')
  // PostgreSQL ends when it cannot write its log.
  await rename(log, `${log}-away`)
  const lost = await errorOf(pool.query('SELECT pg_switch_wal(); INSERT INTO kept VALUES (4)'))
  expect(lost).toBeDefined()
  await vi.waitFor(() => expect(events).toContain('not reopened'), { timeout: 60_000 })
  expect(isLostConnection(await errorOf(kept()))).toBe(true)
  await rm(log, { recursive: true, force: true })
  await rename(`${log}-away`, log)
  await back
  expect(new Set(events.splice(0))).toEqual(new Set(['lost', 'not reopened', 'reopened']))
  expect(await kept()).toEqual([1, 2])
})

test('work that takes longer is given its time', async () => {
  const slow = 'SELECT count(*)::int AS n FROM generate_series(1, 4000000) AS a, generate_series(1, 3) AS b'
  const { rows } = await engine.patiently(() => pool.query(slow))
  expect(rows).toEqual([{ n: 12_000_000 }])
  expect(events).toEqual([])
})

test('after an error the session is as new, but for its temporary tables', async () => {
  await pool.query('CREATE TEMP TABLE copied AS SELECT 1 AS n')
  await pool.query({ name: 'one', text: 'SELECT 1 AS n' })
  await pool.query("SET application_name = 'changed'; BEGIN; INSERT INTO kept VALUES (9)")
  await errorOf(pool.query('SELECT 1/0'))
  expect((await pool.query({ name: 'one', text: 'SELECT 1 AS n' })).rows).toEqual([{ n: 1 }])
  expect((await pool.query('SELECT * FROM copied')).rows).toEqual([{ n: 1 }])
  expect((await pool.query('SHOW application_name')).rows).not.toEqual([{ application_name: 'changed' }])
  expect(await kept()).toEqual([1, 2])
})

test('a damaged database is not made anew, and the error says what to do', async () => {
  const home = await mkdtemp(join(tmpdir(), 'trunkline-damaged-'))
  const copy = join(home, 'db')
  await cp(dataDir, copy, { recursive: true })
  await truncate(join(copy, 'global/pg_control'))
  await expect(openEmbedded({ dataDir: home })).rejects.toThrow(
    /^DATA_DIR: the database in \/\S+\/db, of PostgreSQL \d+, cannot be opened: .+ restore a backup/,
  )
  await rm(home, { recursive: true })
})

test('closing ends a stuck engine, and what was committed is there afterwards', async () => {
  await pool.query('INSERT INTO kept VALUES (3)')
  const stuck = errorOf(pool.query(ENDLESS))
  await engine.close()
  expect(isLostConnection(await stuck)).toBe(true)
  await pool.end()
  engine = await openEngine({ dataDir })
  pool = embeddedPool(engine)
  expect(await kept()).toEqual([1, 2, 3])
})
