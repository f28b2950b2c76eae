import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { Database } from './database.ts'
import { openDatabase } from './open.ts'
import { createScratchDatabase, openScratchDatabase } from './scratch-database.test-support.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const serverUrl = process.env.E2E_DATABASE_URL
const kind = serverUrl === undefined ? 'embedded' : 'server'

const uuid = '01890a5d-ac96-774b-bcce-b302099a8057'
const instant = new Date('2026-02-28T23:59:59.123Z')

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
    await database.prisma.instance.create({ data: { id: uuid, startedAt: instant } })
    expect(await database.sql.query('SELECT started_at FROM instances')).toEqual([{ started_at: instant }])
    expect((await database.prisma.instance.findMany()).map((row) => row.startedAt)).toEqual([instant])
  })

  test('Prisma reports a violated unique constraint by its own code', async () => {
    const create = () => database.prisma.setting.create({ data: { name: 'taken', value: '' } })
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

describe.runIf(serverUrl)('server', () => {
  const open = (options: { url?: string; statementTimeoutMs?: number; poolMax?: number }) =>
    openDatabase({ kind: 'server', url: serverUrl ?? '', ...options })

  test('JIT is off on every connection', async () => {
    const database = await open({})
    for (const sql of [database.sql, database.dedicatedSql])
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
    await database.prisma.instance.create({ data: { id: uuid, startedAt: instant } })
    expect(await database.sql.query('SELECT started_at FROM instances')).toEqual([{ started_at: instant }])
    await database.close()
    await scratch.drop()
  })

  test.each(['sql', 'dedicatedSql'] as const)(
    '%s: a connection that is lost fails its query, and the next query works',
    async (name) => {
      const database = await open({ poolMax: 1 })
      const sql = database[name]
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

  test.each(['sql', 'dedicatedSql'] as const)(
    '%s: the loss of an idle connection does not affect the next query',
    async (name) => {
      const database = await open({ poolMax: 1 })
      const sql = database[name]
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

  test('the pool tells how many connections are in use, and what waits for one', async () => {
    const database = await open({ poolMax: 1 })
    expect(database.pool?.state()).toEqual({ max: 1, inUse: 0, idle: 0, waiting: 0 })
    await database.sql.query('SELECT 1')
    const both = Promise.all([1, 2].map(() => database.sql.query('SELECT pg_sleep(0.2)')))
    // The pool gives away its connections in the next turn of the event loop.
    await vi.waitFor(() => expect(database.pool?.state()).toEqual({ max: 1, inUse: 1, idle: 0, waiting: 1 }))
    await both
    await vi.waitFor(() => expect(database.pool?.state()).toEqual({ max: 1, inUse: 0, idle: 1, waiting: 0 }))
    await database.close()
  })

  test('a statement is cancelled at its timeout', async () => {
    const database = await open({ statementTimeoutMs: 50 })
    await expect(database.sql.query('SELECT pg_sleep(30)')).rejects.toMatchObject({ code: '57014' })
    await database.close()
  })
})

test('with a server that is down, queries and migrations fail but opening does not', async () => {
  const database = await openDatabase({ kind: 'server', url: 'postgres://nobody@127.0.0.1:9/none' })
  await expect(database.sql.query('SELECT 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  await expect(database.prisma.setting.count()).rejects.toMatchObject({ code: 'P1001' })
  await expect(database.pendingMigrations()).rejects.toThrow()
  await expect(database.migrate()).rejects.toThrow()
  await database.close()
})
