import { v7 } from 'uuid'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { isConnectionError, writeObstacle } from '#core/base/errors/connection-error.ts'
import type { Database, Sql } from './database.ts'
import { findLockHolder } from './lock-holder.ts'
import { openDatabase } from './open.ts'
import { createScratchDatabase, openScratchDatabase } from './scratch-database.test-support.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const serverUrl = process.env.E2E_DATABASE_URL
const kind = serverUrl === undefined ? 'embedded' : 'server'

const uuid = '01890a5d-ac96-774b-bcce-b302099a8057'
const instant = new Date('2026-02-28T23:59:59.123Z')

function userNamed(username: string) {
  const columns = { passwordHash: '', role: 'user', maxApiCalls: 1, createdAt: instant, updatedAt: instant }
  return { id: v7(), username, usernameKey: username, ...columns }
}

describe(kind, () => {
  let database: Database

  beforeAll(async () => {
    database = await openScratchDatabase(serverUrl)
  })
  afterAll(() => database?.close())

  test('raw SQL returns each type as the same JavaScript value', async () => {
    const rows = await database.sql.query(`SELECT
      9007199254740991::int8 AS int8, ARRAY[1, NULL, -2]::int8[] AS int8s, 7::int4 AS int4, 1.5::float8 AS float8,
      12.50::numeric(8, 2) AS numeric, true AS yes, NULL::text AS nothing, 'hour'::rollup_span AS enumerated,
      '2026-02-28 23:59:59.123456+00'::timestamptz AS at, '2026-02-28 12:00'::timestamp AS local, '2026-02-28'::date AS day,
      '${uuid}'::uuid AS uuid, '\\x00ff'::bytea AS bytes, '{"a": [1, null]}'::jsonb AS doc,
      ARRAY['a', NULL, 'c"\\,']::text[] AS texts, ARRAY['${uuid}']::uuid[] AS uuids`)
    expect(rows).toStrictEqual([
      {
        int8: 9007199254740991,
        int8s: [1, null, -2],
        int4: 7,
        float8: 1.5,
        numeric: '12.50',
        yes: true,
        nothing: null,
        enumerated: 'hour',
        at: instant,
        local: '2026-02-28 12:00:00',
        day: '2026-02-28',
        uuid,
        bytes: Buffer.from([0, 255]),
        doc: { a: [1, null] },
        texts: ['a', null, 'c"\\,'],
        uuids: [uuid],
      },
    ])
  })

  test('raw SQL accepts the same JavaScript values, alone and in arrays', async () => {
    const values = [5, instant, uuid, new Uint8Array([0, 255]), '{"a":"\\u00e9"}', true, null]
    const [row] = await database.sql.query(
      `SELECT $1::int8 = 5 AS int8, $2::timestamptz = '2026-02-28T23:59:59.123Z' AS at, $3::uuid = '${uuid}' AS uuid,
       $4::bytea = '\\x00ff' AS bytes, $5::jsonb = '{"a": "é"}' AS doc, $6::boolean AS yes, $7::text IS NULL AS nothing`,
      values,
    )
    expect(row).toEqual({
      int8: true,
      at: true,
      uuid: true,
      bytes: true,
      doc: true,
      yes: true,
      nothing: true,
    })

    const rows = await database.sql.query(
      'SELECT * FROM unnest($1::uuid[], $2::text[], $3::int8[], $4::timestamptz[], $5::bytea[]) AS t(u, t, i, a, b)',
      [
        [uuid, null],
        ['say "\\{}", NULL', ''],
        [1, null],
        [instant, null],
        [Buffer.from([1]), null],
      ],
    )
    expect(rows).toStrictEqual([
      { u: uuid, t: 'say "\\{}", NULL', i: 1, a: instant, b: Buffer.from([1]) },
      { u: null, t: '', i: null, a: null, b: null },
    ])
  })

  test('Prisma and raw SQL read and write the same instant, whatever the zone of the server', async () => {
    await database.prisma.user.create({ data: userNamed('one') })
    expect(await database.sql.query("SELECT created_at FROM users WHERE username = 'one'")).toEqual([
      { created_at: instant },
    ])
    expect(
      (await database.prisma.user.findMany({ where: { username: 'one' } })).map((row) => row.createdAt),
    ).toEqual([instant])
  })

  test('Prisma reports a violated unique constraint by its own code', async () => {
    const create = () => database.prisma.user.create({ data: userNamed('taken') })
    await create()
    await expect(create()).rejects.toMatchObject({ code: 'P2002' })
  })

  test('an error of raw SQL has its SQLSTATE and none of the values', async () => {
    const error = await database.sql
      .query('SELECT $1::text::int4', ['hush'])
      .catch((reason: unknown) => reason)
    expect(error).toMatchObject({ code: '22P02' })
    expect(JSON.stringify({ ...(error as Error) })).not.toContain('hush')
  })
})

/** The lanes that keep one connection, for statements that run one at a time. */
const ONE_AT_A_TIME = new Set(['heartbeat', 'admissions', 'lockedAdmissions', 'settlements'])

function sqlOf({ sql, lanes }: Database): Record<string, Sql> & { management: Sql; admissions: Sql } {
  const { reports, records, ...others } = lanes
  return { management: sql, reports: reports.sql, records: records.sql, ...others }
}

describe.runIf(serverUrl)('server', () => {
  const open = (options: { url?: string; statementTimeoutMs?: number; poolMax?: number }) =>
    openDatabase({ kind: 'server', url: serverUrl ?? '', ...options })

  test('JIT is off on every connection', async () => {
    const database = await open({})
    for (const sql of Object.values(sqlOf(database)))
      expect(await sql.query('SHOW jit')).toEqual([{ jit: 'off' }])
    expect(await database.prisma.$queryRaw`SHOW jit`).toEqual([{ jit: 'off' }])
    await database.close()
  })

  test('the time zone of a database does not change instants', async () => {
    const scratch = await createScratchDatabase(serverUrl ?? '')
    const admin = await open({ url: scratch.url })
    await admin.sql.query(
      `ALTER DATABASE ${new URL(scratch.url).pathname.slice(1)} SET TimeZone = 'Asia/Shanghai'`,
    )
    await admin.close()
    const database = await open({ url: scratch.url })
    await database.migrate()
    await database.prisma.user.create({ data: userNamed('one') })
    expect(await database.sql.query("SELECT created_at FROM users WHERE username = 'one'")).toEqual([
      { created_at: instant },
    ])
    await database.close()
    await scratch.drop()
  })

  test.each(['management', 'admissions'] as const)(
    '%s: a connection that is lost fails its query, and the next query works',
    async (name) => {
      const database = await open({ poolMax: 1 })
      const sql = sqlOf(database)[name]
      const [session] = await sql.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
      const killer = await open({})
      const lost = expect(sql.query('SELECT pg_sleep(30)')).rejects.toThrow()
      await vi.waitUntil(async () => {
        const text =
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = $1 AND query LIKE '%pg_sleep%'"
        return (await killer.sql.query(text, [session?.pid])).length === 1
      })
      await lost
      expect(await sql.query('SELECT 1 AS one')).toEqual([{ one: 1 }])
      await killer.close()
      await database.close()
    },
  )

  test.each(['management', 'admissions'] as const)(
    '%s: the loss of an idle connection does not affect the next query',
    async (name) => {
      const database = await open({ poolMax: 1 })
      const sql = sqlOf(database)[name]
      const [session] = await sql.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
      const killer = await open({})
      await killer.sql.query('SELECT pg_terminate_backend($1)', [session?.pid])
      await vi.waitUntil(async () => {
        const text = 'SELECT 1 FROM pg_stat_activity WHERE pid = $1'
        return (await killer.sql.query(text, [session?.pid])).length === 0
      })
      await killer.close()
      // If this process has not noticed the loss yet, the next query fails, as in the test above.
      await vi.waitUntil(() =>
        sql.query('SELECT 1').then(
          () => true,
          () => false,
        ),
      )
      await database.close()
    },
  )

  test('a row that is not free in time costs no connection of admissions', async () => {
    const [database, holder] = [await open({}), await open({ poolMax: 1 })]
    const { admissions } = database.lanes
    const session = () => admissions.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
    const before = await session()
    await holder.sql.query('SELECT pg_advisory_lock(87)')
    const waiting = admissions.query(
      "SELECT pg_advisory_xact_lock(87) FROM (SELECT set_config('lock_timeout', '1', true) OFFSET 0) AS brief",
    )
    await expect(waiting).rejects.toMatchObject({ code: '55P03' })
    expect(await session()).toEqual(before)
    await holder.sql.query('SELECT pg_advisory_unlock(87)')
    await Promise.all([database.close(), holder.close()])
  })

  test('a process takes at most 16 connections, however much it has to do at once', async () => {
    const scratch = await createScratchDatabase(serverUrl ?? '')
    const database = await open({ url: scratch.url })
    const listening = database.listen?.('channel', () => undefined)
    await listening?.opened
    const everything = Promise.allSettled(
      Object.entries(sqlOf(database)).flatMap(([lane, sql]) =>
        Array.from({ length: ONE_AT_A_TIME.has(lane) ? 1 : 6 }, () => sql.query('SELECT pg_sleep(0.2)')),
      ),
    )
    const admin = await open({})
    const counted = async () => {
      const text = 'SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = $1'
      return (await admin.sql.query<{ n: number }>(text, [new URL(scratch.url).pathname.slice(1)]))[0]?.n
    }
    await vi.waitFor(async () => expect(await counted()).toBe(16), 5_000)
    expect(database.connections?.max).toBe(16)
    await everything
    await listening?.close()
    await Promise.all([database.close(), admin.close()])
    await scratch.drop()
  })

  test('no lane waits for the statements of another, whatever holds them', async () => {
    const [database, holder] = [await open({}), await open({ poolMax: 1 })]
    const lanes = sqlOf(database)
    for (const [stuck, sql] of Object.entries(lanes)) {
      await holder.sql.query('SELECT pg_advisory_lock(85)')
      const statements = ONE_AT_A_TIME.has(stuck) ? 1 : 6
      const held = Promise.allSettled(
        Array.from({ length: statements }, () => sql.query('SELECT pg_advisory_xact_lock(85)')),
      )
      await vi.waitFor(() => {
        const state = database.connections?.states().find(({ lane }) => lane === stuck)
        expect(state?.inUse).toBeGreaterThan(0)
      })
      for (const [lane, other] of Object.entries(lanes))
        if (lane !== stuck)
          expect(await other.query('SELECT 1 AS one'), `${lane} beside ${stuck}`).toEqual([{ one: 1 }])
      await holder.sql.query('SELECT pg_advisory_unlock(85)')
      await held
    }
    await Promise.all([database.close(), holder.close()])
  })

  test('who holds the lock for which a statement waits is found, and not who waits in between', async () => {
    const [database, holder] = [await open({}), await open({ poolMax: 1 })]
    const { lanes } = database
    expect(await findLockHolder(lanes.probes)).toBeUndefined()
    const [session] = await holder.sql.query<{ pid: number }>(
      'SELECT pg_backend_pid() AS pid FROM (SELECT pg_advisory_lock(86)) AS held',
    )
    const held = Promise.allSettled(
      [lanes.settlements, lanes.conversations].map((sql) => sql.query('SELECT pg_advisory_xact_lock(86)')),
    )
    await vi.waitFor(async () =>
      expect(await findLockHolder(lanes.probes)).toBe(`process ${session?.pid} (trunkline, idle)`),
    )
    await holder.sql.query('SELECT pg_advisory_unlock(86)')
    await held
    await Promise.all([database.close(), holder.close()])
  })

  test.each(['sql', 'prisma'] as const)(
    '%s: a change that finds its row locked gives up after a second, as if the database did not answer',
    async (by) => {
      const scratch = await createScratchDatabase(serverUrl ?? '')
      const database = await open({ url: scratch.url })
      await database.migrate()
      await database.prisma.user.create({ data: userNamed('held') })
      const holder = await open({ url: scratch.url })
      const [held, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      const holding = holder.prisma.$transaction(async (tx) => {
        await tx.$executeRaw`SELECT FROM users WHERE username = 'held' FOR UPDATE`
        held.resolve()
        await released.promise
      })
      await held.promise
      const data = { role: 'admin' }
      const change =
        by === 'sql'
          ? database.sql.query("UPDATE users SET role = 'admin' WHERE username = 'held'")
          : database.prisma.user.update({ where: { usernameKey: 'held' }, data })
      expect(isConnectionError(await change.catch((error: unknown) => error))).toBe(true)
      released.resolve()
      await holding
      await Promise.all([database.close(), holder.close()])
      await scratch.drop()
    },
  )

  test('a session that was opened while the database was read only is not used again once it was refused a write', async () => {
    const scratch = await createScratchDatabase(serverUrl ?? '')
    const name = new URL(scratch.url).pathname.slice(1)
    const operator = await open({})
    await operator.sql.query(`ALTER DATABASE ${name} SET default_transaction_read_only = on`)
    // The only one for management, so that the second change would be given the same session.
    const database = await open({ url: scratch.url, poolMax: 1 })
    const change = () =>
      database.prisma.$transaction(async (tx) => {
        await tx.user.create({ data: userNamed('changed') })
      })
    expect(writeObstacle(await change().catch((error: unknown) => error))).toBe('read_only')
    await operator.sql.query(`ALTER DATABASE ${name} RESET default_transaction_read_only`)
    await change()
    await Promise.all([database.close(), operator.close()])
    await scratch.drop()
  })

  test('a statement is cancelled at its timeout', async () => {
    const database = await open({ statementTimeoutMs: 50 })
    await expect(database.sql.query('SELECT pg_sleep(30)')).rejects.toMatchObject({ code: '57014' })
    await database.close()
  })
})

test('files that a URL names are read before anything waits for them', async () => {
  for (const [name, path, why] of [
    ['sslrootcert', '/dev/zero', '/dev/zero cannot be read: it is a pipe, a socket or a device'],
    ['sslkey', '/nowhere/key.pem', 'ENOENT'],
  ]) {
    const url = `postgres://nobody@127.0.0.1:9/none?${name}=${path}`
    await expect(openDatabase({ kind: 'server', url })).rejects.toThrow(`DATABASE_URL: ${name}: ${why}`)
  }
})

test('with a server that is down, queries and migrations fail but opening does not', async () => {
  const database = await openDatabase({ kind: 'server', url: 'postgres://nobody@127.0.0.1:9/none' })
  await expect(database.sql.query('SELECT 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  await expect(database.prisma.user.count()).rejects.toMatchObject({ code: 'P1001' })
  await expect(database.prisma.$queryRaw`SELECT 1`).rejects.toSatisfy(isConnectionError)
  await expect(database.pendingMigrations()).rejects.toThrow()
  await expect(database.migrate()).rejects.toThrow()
  await database.close()
})
