import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { systemRuntime } from '#core/base/runtime.ts'
import type { Database } from '#core/database/database.ts'
import { openScratchDatabase } from '#core/database/scratch-database.test-support.ts'
import { auditEventsOf, rowsOf } from '#core/database/table-rows.test-support.ts'
import { GATEWAY, type Who } from './actor.ts'
import { ALL_MAX, type Audit, BOUNDED_MAX, createAudit } from './audit.ts'
import { createChainSweep } from './chain-sweep.ts'
import { notedHead, verifyChain } from './verify-chain.ts'

const serverUrl = process.env.E2E_DATABASE_URL
const kind = serverUrl === undefined ? 'embedded' : 'server'
const WHO: Who = { actor: 'token', userId: 'u-1', address: '192.0.2.1', requestId: 'r-1' }

describe(kind, () => {
  let database: Database
  let audit: Audit

  beforeAll(async () => {
    database = await openScratchDatabase(serverUrl)
    audit = createAudit(database)
  })
  afterAll(() => database.close())
  beforeEach(() =>
    tamper('DELETE FROM audit_events', 'DELETE FROM audit_head', 'DELETE FROM audit_allowances'),
  )

  /** Statements of a role with all rights in the database, triggers included. */
  async function tamper(...statements: string[]): Promise<void> {
    const body = statements.map((statement) => `${statement};`).join('\n')
    await database.sql.query(
      `DO $$ BEGIN ALTER TABLE audit_events DISABLE TRIGGER USER; ${body} ALTER TABLE audit_events ENABLE TRIGGER USER; END $$`,
    )
  }
  const verify = (head?: string) =>
    verifyChain(database.sql, head === undefined ? undefined : notedHead(head))
  const faults = async (head?: string) => (await verify(head)).faults.map(({ n }) => n)
  const sweepAfter = (retentionDays: number) =>
    createChainSweep({ sql: database.sql, config: { retentionDays }, runtime: systemRuntime })

  async function tenEvents(): Promise<string> {
    for (let n = 1; n <= 10; n += 1)
      await audit.append(WHO, { operation: 'users.update', target: 'user', targetId: `u-${n}`, after: { n } })
    return (await sweepAfter(1).head()) ?? ''
  }

  test('an empty chain and a chain of all kinds of fields hold', async () => {
    expect(await verify()).toMatchObject({ events: 0, faults: [], head: null })
    await audit.append(WHO, { operation: 'login' })
    await audit.append(
      { actor: 'command', name: 'root@höst' },
      {
        operation: 'users.update',
        result: 'refused',
        reason: '',
        before: { a: 'ü "\u0000' },
        after: {},
        targetId: '3:abc-',
      },
    )
    await audit.append(GATEWAY, { operation: 'logout' })
    expect(await verify()).toMatchObject({ events: 3, first: '1', last: '3', faults: [] })
  })

  test('writers at once make one chain without gaps', async () => {
    await Promise.all(
      Array.from({ length: 16 }, async (_, writer) => {
        for (let n = 0; n < 5; n += 1)
          await audit.append({ ...WHO, userId: `u-${writer}` }, { operation: 'export', targetId: `${n}` })
      }),
    )
    expect(await verify()).toMatchObject({ events: 80, last: '80', faults: [] })
  })

  test.each([
    ['an edit of a text', "UPDATE audit_events SET after = '{}' WHERE n = 4", '4'],
    ['an edit of a time', "UPDATE audit_events SET at = at + interval '1 microsecond' WHERE n = 4", '4'],
    [
      'a text moved to the next field',
      'UPDATE audit_events SET user_id = NULL, key_id = user_id WHERE n = 4',
      '4',
    ],
    ['a deletion', 'DELETE FROM audit_events WHERE n = 4', '4'],
    [
      'an insertion',
      `UPDATE audit_events SET n = n + 1000 WHERE n > 4;
       INSERT INTO audit_events SELECT 5, format, at, operation, result, actor, user_id, key_id, token_id, name, address,
         request_id, target, target_id, before, after, reason, count, hash FROM audit_events WHERE n = 4;
       UPDATE audit_events SET n = n - 999 WHERE n > 1000`,
      '5',
    ],
    [
      'a new order',
      `UPDATE audit_events SET n = 1000 WHERE n = 4;
       UPDATE audit_events SET n = 4 WHERE n = 5;
       UPDATE audit_events SET n = 5 WHERE n = 1000`,
      '4',
    ],
    [
      'an event after the head',
      `INSERT INTO audit_events SELECT 11, format, at, operation, result, actor, user_id, key_id,
       token_id, name, address, request_id, target, target_id, before, after, reason, count, hash FROM audit_events WHERE n = 10`,
      '11',
    ],
    ['a cut end, whose head was left', 'DELETE FROM audit_events WHERE n > 8', '9'],
  ])('in a chain that was changed, %s is found', async (_name, statement, n) => {
    await tenEvents()
    await tamper(statement)
    expect(await faults()).toContain(n)
  })

  test('an end that was cut off or rewritten together with the head is found by a noted head', async () => {
    const head = await tenEvents()
    expect(await faults(head)).toEqual([])
    await tamper(
      'DELETE FROM audit_events WHERE n > 8',
      'UPDATE audit_head SET n = 8, hash = (SELECT hash FROM audit_events WHERE n = 8)',
    )
    expect(await verify()).toMatchObject({ faults: [], isComparedWithHead: false })
    expect(await faults(head)).toEqual(['10'])
    await audit.append(WHO, { operation: 'logout' })
    await audit.append(WHO, { operation: 'logout' })
    expect(await faults()).toEqual([])
    expect(await faults(head)).toEqual(['10'])
  })

  test.each(['UPDATE audit_events SET name = NULL', 'DELETE FROM audit_events', 'TRUNCATE audit_events'])(
    'the database refuses %s',
    async (statement) => {
      await tenEvents()
      await expect(database.sql.query(statement)).rejects.toThrow('cannot be changed')
      expect((await verify()).events).toBe(10)
    },
  )

  test('old events are cut off by whole days, which an event signs', async () => {
    await tenEvents()
    await tamper("UPDATE audit_events SET at = at - interval '10 days' WHERE n <= 6", REHASH)
    expect(await faults()).toEqual([])
    expect(await sweepAfter(11).cut()).toBe(0)
    expect(await sweepAfter(5).cut()).toBe(6)
    expect(await sweepAfter(5).cut()).toBe(0)
    expect(await verify()).toMatchObject({ events: 5, first: '7', last: '11', faults: [] })
    await tamper(
      'UPDATE audit_head SET cut_n = 8, cut_hash = (SELECT hash FROM audit_events WHERE n = 8)',
      'DELETE FROM audit_events WHERE n < 9',
    )
    expect(await faults()).toEqual(['8'])
  })

  test('after the first hundred events of a subject in an hour the others are counted, and one event tells how many', async () => {
    const fail = (address: string, user: string) =>
      audit.appendBounded({ actor: 'anonymous', address }, { operation: 'login', result: 'failed' }, [
        { kind: 'address', id: address },
        { kind: 'user', id: user },
      ])
    for (let n = 0; n < BOUNDED_MAX + 7; n += 1) await fail('192.0.2.7', `u-${n}`)
    await fail('192.0.2.8', 'u-1')
    expect((await verify()).events).toBe(BOUNDED_MAX + 1)
    expect(await sweepAfter(1).addOmitted()).toBe(0)
    await tamper("UPDATE audit_allowances SET start = start - interval '1 hour'")
    expect(await sweepAfter(1).addOmitted()).toBeGreaterThan(0)
    const omitted = (await auditEventsOf(database.sql)).filter(({ count }) => count > 1)
    expect(omitted).toMatchObject([
      {
        operation: 'login',
        result: 'failed',
        actor: 'gateway',
        target: 'address',
        targetId: '192.0.2.7',
        count: 7,
      },
    ])
    expect(await faults()).toEqual([])
    expect(await rowsOf(database.sql, 'audit_allowances')).toEqual([])
  })

  test('what strangers cause from any number of addresses is bounded in all, and is counted once', async () => {
    const fail = (address: string) =>
      audit.appendBounded(
        { actor: 'anonymous', address },
        { operation: 'login', result: 'failed' },
        [{ kind: 'address', id: address }],
        'address',
      )
    await fail('192.0.2.1')
    await database.sql.query("UPDATE audit_allowances SET seen = $1 WHERE subject LIKE '%/all'", [
      ALL_MAX - 2,
    ])
    for (let n = 2; n <= 9; n += 1) await fail(`192.0.2.${n}`)
    expect((await verify()).events).toBe(3)
    await tamper("UPDATE audit_allowances SET start = start - interval '1 hour'")
    while ((await sweepAfter(1).addOmitted()) > 0);
    const omitted = (await auditEventsOf(database.sql)).filter(({ count }) => count > 1)
    expect(omitted).toMatchObject([{ operation: 'login', target: 'address', targetId: 'all', count: 6 }])
    expect(await faults()).toEqual([])
  })

  test('a disk without space keeps no event, and nothing fails', async () => {
    const full = createAudit({ ...database, space: { isLow: true } })
    await full.append(WHO, { operation: 'login' })
    await full.appendBounded(WHO, { operation: 'login' }, [])
    expect((await verify()).events).toBe(0)
  })
})

/** Computes all hashes anew, as an attacker with all rights could. */
const REHASH = `
  DECLARE e audit_events; previous bytea := decode(repeat('00', 32), 'hex');
  BEGIN
    FOR e IN SELECT * FROM audit_events ORDER BY n LOOP
      previous := audit_hash(previous, e);
      UPDATE audit_events SET hash = previous WHERE n = e.n;
    END LOOP;
    UPDATE audit_head SET hash = previous;
  END`
