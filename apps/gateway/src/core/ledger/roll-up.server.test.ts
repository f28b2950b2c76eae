import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { GROWTH } from './histogram.ts'
import { admissionOf, type LedgerFixture, openLedgerFixture } from './ledger.test-support.ts'

const serverUrl = process.env.E2E_DATABASE_URL
const GRAINS = ['all', 'owner', 'key', 'end_user'] as const

describe(serverUrl === undefined ? 'embedded' : 'server', () => {
  let fixture: LedgerFixture
  beforeAll(async () => {
    fixture = await openLedgerFixture(serverUrl)
  })
  afterAll(() => fixture.close())

  test('calls that end together are in the sums and histograms of every grain and span, each once', async () => {
    const ledger = fixture.ledgerOf()
    const ownerId = await fixture.userOf()
    const keys = [await fixture.keyOf(ownerId), await fixture.keyOf(ownerId), await fixture.keyOf()]
    const wanted = new Map<string, Sums>()
    const calls = Array.from({ length: 90 }, (_, n) => {
      const key = keys[n % keys.length] as (typeof keys)[number]
      const endUser = ['', 'ann', 'ben'][n % 5] ?? ''
      const agent = n % 2 === 0 ? 'dify' : 'coze'
      return { key, endUser, agent, admission: admissionOf(key, { agent, endUser }), n }
    })
    await Promise.all(calls.map(({ admission }) => ledger.admit(admission)))
    for (const { key, endUser, agent, admission, n } of calls) {
      // Some have no first text, and several have the same times.
      const firstChunkMs = n % 4 === 0 ? undefined : 1 + (n % 7) * 30
      const durationMs = 100 + (n % 6) * 400
      const usage = { promptTokens: n, completionTokens: 1, totalTokens: n + 1 }
      ledger.settle({ callId: admission.callId, outcome: 'done', durationMs, firstChunkMs, ...usage })
      const subjects = { all: '', owner: key.ownerId, key: key.id, end_user: key.id }
      for (const grain of GRAINS) {
        const name = [grain, subjects[grain], grain === 'end_user' ? endUser : '', agent].join('|')
        const sums = wanted.get(name) ?? { calls: 0, tokens: 0, duration: {}, firstChunk: {} }
        wanted.set(name, sums)
        sums.calls += 1
        sums.tokens += usage.totalTokens
        count(sums.duration, durationMs)
        if (firstChunkMs !== undefined) count(sums.firstChunk, firstChunkMs)
      }
    }
    await ledger.close(30_000)
    for (const span of ['hour', 'day', 'month'])
      expect([span, await rollups(span)]).toEqual([span, Object.fromEntries(wanted)])
  })

  async function rollups(span: string): Promise<Record<string, Sums>> {
    const rows = await fixture.database.sql.query<Row>(
      `SELECT concat_ws('|', grain, subject, end_user, agent) AS name, calls::int4, total_tokens::int4 AS tokens,
         duration::text, first_chunk::text AS first FROM rollups WHERE span = $1::text::rollup_span`,
      [span],
    )
    const sums = rows.map(({ name, calls, tokens, duration, first }): [string, Sums] => [
      name,
      { calls, tokens, duration: JSON.parse(duration), firstChunk: JSON.parse(first) },
    ])
    expect(new Set(sums.map(([name]) => name)).size).toBe(rows.length)
    return Object.fromEntries(sums)
  }
})

interface Sums {
  calls: number
  tokens: number
  readonly duration: Record<string, number>
  readonly firstChunk: Record<string, number>
}

interface Row {
  readonly name: string
  readonly calls: number
  readonly tokens: number
  readonly duration: string
  readonly first: string
}

function count(histogram: Record<string, number>, ms: number): void {
  const cell = String(Math.ceil(Math.log(ms) / Math.log(GROWTH)))
  histogram[cell] = (histogram[cell] ?? 0) + 1
}
