import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { auditEventsOf } from '#core/database/table-rows.test-support.ts'
import { openUploadFixture, type UploadFixture } from '#core/uploads/uploads.test-support.ts'
import { createExpiringKeySearch } from './expiring-keys.ts'
import { createUnusedKeys } from './unused-keys.ts'

const serverUrl = process.env.E2E_DATABASE_URL
const UNUSED_DAYS = 90

describe(serverUrl === undefined ? 'embedded' : 'server', () => {
  let fixture: UploadFixture
  beforeAll(async () => {
    fixture = await openUploadFixture(serverUrl)
  })
  afterAll(() => fixture.close())
  beforeEach(() => fixture.database.sql.query('TRUNCATE users, api_keys, uploads, upload_copies'))

  /** A key that was never used and whose columns are so many days from now. */
  async function keyWith(times: Readonly<Record<string, number>>): Promise<string> {
    const { id } = await fixture.keyOf(await fixture.join('premium'), {})
    const names = Object.keys(times)
    const columns = names.map((name, index) => `${name} = now() + $${index + 2} * interval '1 day'`)
    // The fixture has authenticated it once.
    const never = "last_used_at = NULL, day_start = '1970-01-01T00:00:00Z'"
    const { sql } = fixture.database
    await sql.query(`UPDATE api_keys SET ${never} WHERE id = $1`, [id])
    await sql.query(`UPDATE api_keys SET ${columns.join(', ')} WHERE id = $1`, [id, ...Object.values(times)])
    return id
  }

  const unused = () => createUnusedKeys(fixture.database.sql, UNUSED_DAYS)
  const idsOfRevoked = async () => {
    const rows = await fixture.database.prisma.apiKey.findMany({
      where: { revokedAt: { not: null } },
      select: { id: true },
    })
    return rows.map(({ id }) => id).sort()
  }

  test('active keys without any sign of life in the days are revoked, and no others; none without the setting', async () => {
    const never = await keyWith({ created_at: -91 })
    const long = await keyWith({ created_at: -200, last_used_at: -91, day_start: -92 })
    const resumed = await keyWith({ created_at: -200, restricted_at: -91 })
    for (const signs of [
      { created_at: -89 },
      { created_at: -200, last_used_at: -89, day_start: -89 },
      { created_at: -200, restricted_at: -89 },
      { created_at: -200, rotated_at: -89 },
      { created_at: -200, paused_at: -100, restricted_at: -100 },
      { created_at: -200, expires_at: -1 },
    ])
      await keyWith(signs)
    expect(await createUnusedKeys(fixture.database.sql, undefined).revokeUnused()).toBe(0)
    expect(await idsOfRevoked()).toEqual([])
    expect(await unused().revokeUnused()).toBe(3)
    expect(await unused().revokeUnused()).toBe(0)
    expect(await idsOfRevoked()).toEqual([never, long, resumed].sort())
  })

  test('each of them is an event of the audit log by the gateway, and one statement revokes 200 at most', async () => {
    const id = await keyWith({ created_at: -500, day_start: -40_000 })
    const { ownerId } = await fixture.database.prisma.apiKey.findUniqueOrThrow({ where: { id } })
    await fixture.database.sql.query(
      `INSERT INTO api_keys (id, hash, prefix, name, name_key, description, permissions, owner_id, created_by_id, created_at, expires_at)
       SELECT gen_random_uuid(), sha256(n::text::bytea), 'tl_', 'k', 'k', '', '{}', $1, $1, now() - interval '400 days',
         now() + interval '1 day'
       FROM generate_series(1, 200) AS n`,
      [ownerId],
    )
    expect(await unused().revokeUnused()).toBe(200)
    expect(await unused().revokeUnused()).toBe(1)
    const [event] = await auditEventsOf(fixture.database.sql, {
      operation: 'keys.revokeUnused',
      target_id: id,
    })
    expect(event).toMatchObject({ actor: 'gateway', target: 'api_key' })
  })

  test('keys that expire soon are counted for each threshold and the first ten named, and of all processes one tells on a day', async () => {
    const { sql } = fixture.database
    await sql.query("DELETE FROM settings WHERE name = 'expiring_keys_told'")
    const soonest = await keyWith({ expires_at: 0.5 })
    for (const days of [6, 29, 31, -1]) await keyWith({ expires_at: days })
    await keyWith({ expires_at: 0.5, paused_at: 0 })
    await keyWith({ expires_at: 0.5, revoked_at: 0 })
    const search = createExpiringKeySearch(sql)
    const of = async () =>
      (await search.expiring()).map(({ days, count, first }) => [days, count, first.length, first[0]?.id])
    expect(await of()).toEqual([
      [30, 3, 3, soonest],
      [7, 2, 2, soonest],
      [1, 1, 1, soonest],
    ])
    for (let more = 0; more < 9; more += 1) await keyWith({ expires_at: 20 })
    expect((await of())[0]).toEqual([30, 12, 10, soonest])
    const told = await Promise.all([search, createExpiringKeySearch(sql)].map((each) => each.mayTell()))
    expect(told.filter(Boolean)).toHaveLength(1)
    await sql.query("UPDATE settings SET value = '2026-01-01' WHERE name = 'expiring_keys_told'")
    expect(await search.mayTell()).toBe(true)
  })
})
