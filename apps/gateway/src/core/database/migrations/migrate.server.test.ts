import { PrismaPg } from '@prisma/adapter-pg'
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { Database } from '#core/database/database.ts'
import { embeddedPool } from '#core/database/embedded/open-embedded.ts'
import { openDatabase } from '#core/database/open.ts'
import { poolSql } from '#core/database/pool.ts'
import {
  createScratchDatabase,
  openEmptyDatabase,
  openEmptyEngine,
} from '#core/database/scratch-database.test-support.ts'
import { applyMigrations, pendingMigrations } from './migrate.ts'
import { migrationNames } from './migration-files.ts'
import { schemaDrift } from './schema-drift.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const serverUrl = process.env.E2E_DATABASE_URL
const kind = serverUrl === undefined ? 'embedded' : 'server'
const all = await migrationNames()
const closers: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

test('the migrations create the schema that prisma/schema.prisma describes', async () => {
  expect(await schemaDrift()).toBe('')
})

describe(kind, () => {
  async function openNew(): Promise<Database> {
    const database = await openEmptyDatabase(serverUrl)
    closers.push(() => database.close())
    return database
  }

  test('every migration is applied once to an empty database', async () => {
    const database = await openNew()
    expect(await database.pendingMigrations()).toEqual(all)
    expect(await database.migrate()).toEqual(all)
    expect(await database.pendingMigrations()).toEqual([])
    expect(await database.migrate()).toEqual([])
    expect(await database.prisma.user.count()).toBe(0)
  })

  test('a failed migration is reported with its name and cause, has no effect, and is tried again', async () => {
    const database = await openNew()
    await database.sql.query("CREATE TYPE rollup_grain AS ENUM ('in the way')")
    await expect(database.migrate()).rejects.toThrow(
      new RegExp(`could not be migrated[\\s\\S]*${all[0]}[\\s\\S]*type "rollup_grain" already exists`),
    )
    expect(await database.pendingMigrations()).toEqual(all)
    expect(await database.sql.query(`SELECT to_regtype('rollup_span') AS span`)).toEqual([{ span: null }])

    await database.sql.query('DROP TYPE rollup_grain')
    expect(await database.migrate()).toEqual(all)
  })
})

test('a migration is recorded even if the process is killed as it commits', async () => {
  const engine = await openEmptyEngine()
  const pool = embeddedPool(engine)
  closers.push(
    () => engine.close(),
    () => pool.end(),
  )
  const sql = poolSql(pool)
  const dying = applyMigrations({
    sql,
    isShared: false,
    adapter: () => new PrismaPg(pool).connect(),
    async runScript(script) {
      await pool.query(script)
      throw new Error('killed')
    },
  })
  await expect(dying).rejects.toThrow('killed')
  expect(await pendingMigrations(sql)).toEqual(all.slice(1))
})

test.runIf(serverUrl)(
  'of two processes that migrate a database at the same time, one applies the migrations and both succeed',
  async () => {
    const { url, drop } = await createScratchDatabase(serverUrl ?? '', { template: undefined })
    const databases = await Promise.all([1, 2].map(() => openDatabase({ kind: 'server', url })))
    closers.push(drop, ...databases.map((database) => () => database.close()))
    const applied = await Promise.all(databases.map((database) => database.migrate()))
    expect(applied.flat()).toEqual(all)
  },
)
