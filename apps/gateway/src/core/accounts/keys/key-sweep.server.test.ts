import { existsSync } from 'node:fs'
import { v7 } from 'uuid'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { verifyChain } from '#core/audit/verify-chain.ts'
import { systemRuntime } from '#core/base/runtime.ts'
import { auditEventsOf, rowsOf } from '#core/database/table-rows.test-support.ts'
import { createLedger, type Ledger } from '#core/ledger/ledger.ts'
import { verifyUsage } from '#core/ledger/verify.ts'
import { ampleLimits } from '#core/limits/limits.test-support.ts'
import type { Calls } from '#core/reports/calls.ts'
import type { ReportInput } from '#core/reports/report-query.ts'
import { admissionOf } from '#core/reports/usage.test-support.ts'
import { createUsage, type Usage } from '#core/reports/usage.ts'
import type { Principal } from '#core/requests/principal.ts'
import { INSTALLATION } from '#core/uploads/storage/storage.test-support.ts'
import { createUploadSweep } from '#core/uploads/upload-sweep.ts'
import {
  newTokens,
  openUploadFixture,
  type Uploader,
  type UploadFixture,
} from '#core/uploads/uploads.test-support.ts'
import { hashKey } from './key-format.ts'
import { createKeySweep } from './key-sweep.ts'

const serverUrl = process.env.E2E_DATABASE_URL
const RETENTION_DAYS = 30

describe(serverUrl === undefined ? 'embedded' : 'server', () => {
  let fixture: UploadFixture
  let ledger: Ledger
  let usage: Usage
  let calls: Calls
  let admin: Principal

  beforeAll(async () => {
    fixture = await openUploadFixture(serverUrl)
    const { sql, kind, lanes } = fixture.database
    ledger = createLedger({
      sql,
      admissionSql: lanes.admissions,
      runtime: systemRuntime,
      instanceId: v7(),
      observer: { batch: () => undefined, settleFailed: () => undefined },
    })
    ;({ usage, calls } = createUsage({
      database: { kind, ...lanes.reports },
      upkeep: lanes.upkeep,
      runtime: systemRuntime,
      limits: ampleLimits(),
      catalog: { knownIds: () => new Set(['dify']) },
      onFeedAnswer: () => undefined,
      config: { retentionDays: 400 },
    }))
    admin = await fixture.join('admin')
  })
  afterAll(async () => {
    await ledger.close(5_000)
    await fixture.close()
  })
  beforeEach(() =>
    fixture.database.sql.query(
      'TRUNCATE users, api_keys, removed_api_keys, calls, rollups, uploads, upload_copies',
    ),
  )

  async function newKey(): Promise<Uploader> {
    const owner = await fixture.join('premium')
    const { id, fullKey, caller } = await fixture.keyOf(owner, { permissions: ['chat', 'upload'] })
    return { owner, keyId: id, fullKey, caller }
  }

  /** A key that has made so many calls, all of which have ended. */
  async function keyWithCalls(calls: number): Promise<Uploader> {
    const key = await newKey()
    for (let count = 0; count < calls; count += 1) await settle(await admit(key))
    return key
  }

  async function admit({ keyId, fullKey }: Uploader): Promise<string> {
    const admission = admissionOf({ id: keyId, hash: hashKey(fullKey) }, { endUser: 'anna' })
    await ledger.admit(admission)
    return admission.callId
  }

  async function settle(callId: string): Promise<void> {
    const { written } = ledger.awaitSettlement(callId)
    ledger.settle({ callId, outcome: 'done', durationMs: 5, totalTokens: 7 })
    await written
  }

  /** Sets when a key was revoked and when it expires, in days from now. */
  async function age({ keyId }: Uploader, { revoked, expires = 1 }: { revoked?: number; expires?: number }) {
    await fixture.database.sql.query(
      `UPDATE api_keys SET revoked_at = now() + $2 * interval '1 day', expires_at = now() + $3 * interval '1 day'
       WHERE id = $1`,
      [keyId, revoked ?? null, expires],
    )
  }

  const sweepOf = (retentionDays: number | undefined = RETENTION_DAYS) =>
    createKeySweep({ sql: fixture.database.sql, retentionDays })

  /** One round of the maintenance, as far as it concerns keys. */
  async function round(sweep = sweepOf()): Promise<void> {
    while ((await sweep.sweep()) > 0);
    const { storage, runtime, database } = fixture
    const files = createUploadSweep({
      sql: database.sql,
      storage,
      runtime,
      installation: () => INSTALLATION,
      observer: { swept: () => undefined },
    })
    while ((await files.expired()) > 0);
  }

  const isThere = async ({ keyId }: Uploader) =>
    (await fixture.database.prisma.apiKey.count({ where: { id: keyId } })) === 1
  const verify = () => verifyUsage(fixture.database.sql, { retentionDays: 400, extent: 'all' })

  test('records go once their keys were revoked or have expired for longer than the retention, and no others', async () => {
    const keys = await Promise.all(
      [
        { revoked: -31 },
        { expires: -31 },
        { revoked: -29 },
        { expires: -29 },
        { revoked: -31, expires: -1 },
        { revoked: -1, expires: -31 },
        {},
      ].map(async (times) => {
        const key = await newKey()
        await age(key, times)
        return key
      }),
    )
    await round(createKeySweep({ sql: fixture.database.sql, retentionDays: undefined }))
    expect(await Promise.all(keys.map(isThere))).toEqual(keys.map(() => true))
    await round()
    expect(await Promise.all(keys.map(isThere))).toEqual([false, false, true, true, false, false, true])
    await expect(fixture.keys.find(admin, keys[0]?.keyId ?? '')).rejects.toMatchObject({
      reason: 'key_not_found',
    })
    // Keys that were never used leave nothing.
    expect(await rowsOf(fixture.database.sql, 'removed_api_keys')).toEqual([])
  })

  test('more keys than one statement takes go in one round, and the next round begins anew', async () => {
    const one = await newKey()
    const { sql } = fixture.database
    const more = 450
    await sql.query(
      `INSERT INTO api_keys (id, hash, prefix, name, name_key, description, permissions, owner_id, created_by_id, created_at, expires_at)
       SELECT gen_random_uuid(), sha256(n::text::bytea), 'tl_', 'k', 'k', '', '{}', $1, $1, now(), now() - interval '40 days'
       FROM generate_series(1, $2::int) AS n`,
      [one.owner.userId, more],
    )
    const sweep = sweepOf()
    await round(sweep)
    expect(await fixture.database.prisma.apiKey.count()).toBe(1)
    await age(one, { revoked: -40 })
    await round(sweep)
    expect(await fixture.database.prisma.apiKey.count()).toBe(0)
  })

  test('the files of a key go first, and are subtracted from what their owner has', async () => {
    const key = await newKey()
    const other = await newKey()
    const tokens = newTokens(3)
    await fixture.insertRows(key, tokens)
    await fixture.insertFiles(tokens)
    await fixture.insertRows(other, newTokens(1))
    await age(key, { revoked: -31 })
    const sweep = sweepOf()
    while ((await sweep.sweep()) > 0);
    // Only begun: the record waits until the files are gone.
    expect(await isThere(key)).toBe(true)
    await round(sweep)
    expect(await fixture.bytesOf(key)).toBe(0)
    await round(sweep)
    expect(await isThere(key)).toBe(false)
    expect(await fixture.database.prisma.upload.count()).toBe(1)
    for (const token of tokens)
      expect(existsSync(fixture.storage.pathOf({ token, name: 'a.txt' }))).toBe(false)
  })

  test('a key whose files cannot be deleted does not keep others', async () => {
    const stuck = await newKey()
    await fixture.insertRows(stuck, newTokens(1))
    const free = await newKey()
    for (const key of [stuck, free]) await age(key, { revoked: -31 })
    const sweep = sweepOf()
    while ((await sweep.sweep()) > 0);
    expect([await isThere(stuck), await isThere(free)]).toEqual([true, false])
  })

  test('reports, totals and the equations are the same afterwards, and the calls are still there', async () => {
    const key = await keyWithCalls(3)
    const other = await keyWithCalls(2)
    const ofOwner = key.owner
    const queries: [Principal, ReportInput][] = [
      [admin, {}],
      [admin, { groupBy: ['key'] }],
      [admin, { groupBy: ['user'] }],
      [admin, { groupBy: ['key', 'user'] }],
      [admin, { groupBy: ['end_user', 'user'] }],
      [admin, { userId: ofOwner.userId, groupBy: ['key'] }],
      [admin, { keyId: key.keyId }],
      [ofOwner, {}],
      [ofOwner, { groupBy: ['key'] }],
      [ofOwner, { groupBy: ['end_user'] }],
      [ofOwner, { keyId: key.keyId, groupBy: ['outcome'] }],
    ] as [Principal, ReportInput][]
    const read = async () => ({
      reports: await Promise.all(
        queries.map(async ([caller, input]) => {
          const { groups, totals } = await usage.report(caller, input)
          return { groups, totals }
        }),
      ),
      quota: await usage.quota(ofOwner),
      calls: await calls.count(ofOwner, { keyId: key.keyId }),
      ofKeys: await usage.reportsOfKeys(ofOwner, [key.keyId], {}).then((reports) => [...reports.keys()]),
    })
    const before = await read()
    expect(before).toMatchObject({ calls: 3, ofKeys: [key.keyId] })
    expect(await verify()).toEqual([])
    await age(key, { revoked: -31 })
    await round()
    expect([await isThere(key), await isThere(other)]).toEqual([false, true])
    expect(await read()).toEqual(before)
    expect(await verify()).toEqual([])
    // A neighbour learns nothing of the removed key.
    await expect(usage.report(other.owner, { keyId: key.keyId })).rejects.toMatchObject({
      reason: 'key_not_found',
    })
    expect(await usage.reportsOfKeys(other.owner, [key.keyId], {})).toEqual(new Map())
  })

  test('a call that ends after the record of its key has gone is still counted', async () => {
    const key = await newKey()
    const callId = await admit(key)
    await age(key, { revoked: -31 })
    await round()
    expect(await isThere(key)).toBe(false)
    await settle(callId)
    expect(await verify()).toEqual([])
    expect((await usage.report(key.owner, { groupBy: ['key'] })).groups).toMatchObject([
      { group: { key: key.keyId }, totals: { calls: 1 } },
    ])
  })

  test('each removal is an event of the audit log, which has the name of the key', async () => {
    const key = await newKey()
    await age(key, { revoked: -31 })
    await round()
    const event = (await auditEventsOf(fixture.database.sql, { target_id: key.keyId })).at(-1)
    expect(event).toMatchObject({ operation: 'keys.sweep', actor: 'gateway', target: 'api_key', after: null })
    expect(JSON.parse(event?.before ?? '')).toMatchObject({ name: 'a key', owner_id: key.owner.userId })
    expect((await verifyChain(fixture.database.sql, undefined)).faults).toEqual([])
  })

  test('two processes at once remove each key once', async () => {
    const keys = await Promise.all(Array.from({ length: 20 }, () => keyWithCalls(1)))
    for (const key of keys) await age(key, { revoked: -31 })
    await Promise.all([round(sweepOf()), round(sweepOf()), round(sweepOf())])
    await round()
    expect(await fixture.database.prisma.apiKey.count()).toBe(0)
    expect(await rowsOf(fixture.database.sql, 'removed_api_keys')).toHaveLength(20)
    const swept = await auditEventsOf(fixture.database.sql, { operation: 'keys.sweep' })
    const ids = new Set<unknown>(keys.map(({ keyId }) => keyId))
    expect(swept.filter(({ targetId }) => ids.has(targetId))).toHaveLength(20)
    expect(await verify()).toEqual([])
  })
})
