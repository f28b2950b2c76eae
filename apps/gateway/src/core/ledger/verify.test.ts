import {
  type Arbitrary,
  array,
  assert,
  asyncProperty,
  constant,
  constantFrom,
  integer,
  nat,
  oneof,
  option,
  record,
} from 'fast-check'
import { v7 } from 'uuid'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import {
  admissionOf,
  openUsageServices,
  type TestKey,
  type UsageServices,
} from '#core/reports/usage.test-support.ts'
import type { Principal } from '#core/requests/principal.ts'
import type { CallKind, CallOutcome } from './call-kinds.ts'
import type { Ledger } from './ledger.ts'
import type { Settlement } from './settlement/settlement-row.ts'
import { verifyUsage } from './verify.ts'

let services: UsageServices
let admin: Principal

beforeAll(async () => {
  services = await openUsageServices()
})
afterAll(() => services.database.close())
beforeEach(async () => {
  await services.database.sql.query('TRUNCATE users, api_keys, calls, uploads, upload_copies, rollups')
  admin = await services.join('admin')
})

const verify = () => verifyUsage(services.database.sql, { retentionDays: 400, extent: 'all' })

type Step =
  | {
      readonly do: 'admit'
      readonly key: number
      readonly kind: CallKind
      readonly agent: string
      readonly endUser: string
    }
  | { readonly do: 'settle'; readonly call: number; readonly end: Omit<Settlement, 'callId'> }
  | { readonly do: 'interrupt' }
  | { readonly do: 'reset'; readonly key: number; readonly period: 'day' | 'month' | 'total' }
  | { readonly do: 'quota'; readonly user: number; readonly quotaPeriod: 'none' | 'day' | 'month' }

const OUTCOMES: CallOutcome[] = ['done', 'client_gone', 'upstream_error', 'timeout', 'drained', 'rejected']
const small = nat({ max: 100_000 })

const ends: Arbitrary<Omit<Settlement, 'callId'>> = record(
  {
    outcome: constantFrom(...OUTCOMES),
    durationMs: small,
    model: constantFrom('m-1', 'm-2'),
    promptTokens: small,
    completionTokens: small,
    totalTokens: small,
    firstChunkMs: small,
  },
  { requiredKeys: ['outcome', 'durationMs'] },
)

const steps: Arbitrary<Step> = oneof(
  {
    weight: 6,
    arbitrary: record({
      do: constant('admit'),
      key: integer({ min: 0, max: 3 }),
      kind: constantFrom('chat', 'upload'),
      agent: constantFrom('dify', 'coze'),
      endUser: option(constant('anna'), { nil: '' }),
    }),
  },
  { weight: 5, arbitrary: record({ do: constant('settle'), call: nat({ max: 40 }), end: ends }) },
  { weight: 1, arbitrary: record({ do: constant('interrupt') }) },
  {
    weight: 1,
    arbitrary: record({
      do: constant('reset'),
      key: integer({ min: 0, max: 3 }),
      period: constantFrom('day', 'month', 'total'),
    }),
  },
  {
    weight: 1,
    arbitrary: record({
      do: constant('quota'),
      user: integer({ min: 0, max: 1 }),
      quotaPeriod: constantFrom('none', 'day', 'month'),
    }),
  },
)

test('the invariants hold after any sequence of admissions, settlements, interruptions and resets', {
  timeout: 120_000,
}, async () => {
  await assert(
    asyncProperty(array(steps, { minLength: 10, maxLength: 40 }), async (sequence) => {
      const owners = [await services.join('premium'), await services.join('premium')] as const
      const keys = await Promise.all([owners[0], owners[0], owners[1], owners[1]].map(services.ownKey))
      await play(sequence, owners, keys)
      expect(await verify()).toEqual([])
      expect(await sumsOf('rollups')).toEqual(await sumsOf('ledger'))
    }),
    { seed: 20261120, numRuns: process.env.SOAK ? 100 : 4, endOnFailure: true },
  )
})

async function play(
  sequence: readonly Step[],
  owners: readonly Principal[],
  keys: readonly TestKey[],
): Promise<void> {
  const process = services.processOf()
  const calls: string[] = []
  for (const step of sequence) {
    switch (step.do) {
      case 'admit': {
        const admission = admissionOf(keys[step.key] as TestKey, step)
        // The user's limit may be reached.
        const isIn = await process.admit(admission).then(
          () => true,
          () => false,
        )
        if (isIn) calls.push(admission.callId)
        break
      }
      case 'settle': {
        const callId = calls[step.call % Math.max(1, calls.length)]
        // Some are settled twice, some after they were interrupted.
        if (callId !== undefined) process.settle({ callId, ...step.end })
        break
      }
      case 'interrupt':
        await services.processOf().settlePredecessors()
        break
      case 'reset':
        await services.keys.resetUsage(admin, (keys[step.key] as TestKey).id, step.period)
        break
      case 'quota':
        await services.users.update(admin, (owners[step.user] as Principal).userId, {
          quotaPeriod: step.quotaPeriod,
        })
    }
  }
  await process.close(10_000)
}

/** The numbers of the reports, computed from the rollups or from the ledger. */
async function sumsOf(source: 'ledger' | 'rollups') {
  const text =
    source === 'ledger'
      ? `SELECT key_id::text AS key, kind, agent, coalesce(model, '') AS model, outcome, count(*) AS calls,
           count(total_tokens) AS token_calls, coalesce(sum(prompt_tokens), 0) AS prompt,
           coalesce(sum(completion_tokens), 0) AS completion, coalesce(sum(total_tokens), 0) AS total
         FROM calls WHERE outcome IS NOT NULL GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5`
      : `SELECT subject AS key, kind, agent, model, outcome, sum(calls) AS calls,
           sum(token_calls) AS token_calls, sum(prompt_tokens) AS prompt,
           sum(completion_tokens) AS completion, sum(total_tokens) AS total
         FROM rollups WHERE span = 'hour' AND grain = 'key' AND calls > 0 GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5`
  const rows = await services.database.sql.query<Record<string, unknown>>(text)
  return rows.map((row) => Object.values(row).map(String))
}

test('a late settlement moves a call from interrupted to its own outcome, in every rollup', async () => {
  const owner = await services.join('premium')
  const admission = admissionOf(await services.ownKey(owner))
  const process = services.processOf()
  await process.admit(admission)
  await services.processOf().settlePredecessors()
  expect(await outcomes()).toEqual({ interrupted: 12 })
  process.settle({ callId: admission.callId, outcome: 'done', totalTokens: 7, durationMs: 5 })
  await process.close(5_000)
  // Three spans of four grains.
  expect(await outcomes()).toEqual({ interrupted: 0, done: 12 })
  expect(await verify()).toEqual([])
})

async function outcomes(): Promise<Record<string, number>> {
  const rows = await services.database.sql.query<{ outcome: string; calls: number }>(
    'SELECT outcome, sum(calls)::int8 AS calls FROM rollups GROUP BY outcome',
  )
  return Object.fromEntries(rows.map(({ outcome, calls }) => [outcome, calls]))
}

const SPANS = ['hour', 'day', 'month']
const GRAINS = ['all', 'owner', 'key', 'end_user']
/** The rollup with which the others are compared. */
const REFERENCE = 'month, all'

const DAMAGES: [equation: string, damage: string][] = [
  ['key total = rollups + unsettled', 'UPDATE api_keys SET total_calls = total_calls + 1'],
  ['key day = rollups + unsettled', 'UPDATE api_keys SET day_calls = day_calls - 1'],
  ['key month = rollups + unsettled', 'UPDATE api_keys SET month_calls = month_calls + 1'],
  ['user count = rollups + unsettled', 'UPDATE users SET api_calls_count = api_calls_count + 1'],
  ['ledger = rollups', "UPDATE calls SET outcome = 'timeout' WHERE outcome = 'done'"],
  ['key total = rollups + unsettled', 'DELETE FROM calls WHERE outcome IS NULL'],
  ...SPANS.flatMap((span) =>
    GRAINS.filter((grain) => `${span}, ${grain}` !== REFERENCE).flatMap((grain): [string, string][] => [
      [
        `rollups agree: ${span}, ${grain}`,
        `UPDATE rollups SET calls = calls + 1 WHERE span = '${span}' AND grain = '${grain}'`,
      ],
      [
        `rollups agree: ${span}, ${grain}`,
        `DELETE FROM rollups WHERE span = '${span}' AND grain = '${grain}'`,
      ],
    ]),
  ),
  ['rollups agree: day, all', "UPDATE rollups SET calls = calls + 1 WHERE span = 'month' AND grain = 'all'"],
]

test('every kind of drift is found, whichever table is damaged', async () => {
  const key = await services.ownKey(await services.join('premium'))
  const process = services.processOf()
  const [settled, open] = [admissionOf(key), admissionOf(key)]
  await Promise.all([process.admit(settled), process.admit(open)])
  process.settle({ callId: settled.callId, outcome: 'done', durationMs: 1 })
  await process.close(5_000)
  expect(await verify()).toEqual([])

  const { sql } = services.database
  for (const [equation, damage] of DAMAGES) {
    await sql.query('BEGIN')
    await sql.query(damage)
    const found = (await verify()).map((drift) => drift.equation)
    await sql.query('ROLLBACK')
    expect(found, damage).toContain(equation)
  }
  expect(await verify()).toEqual([])
})

test('calls older than the retention are not expected in the ledger', async () => {
  const key = await services.ownKey(await services.join('premium'))
  const instanceId = v7()
  const process: Ledger = services.processOf(instanceId)
  const callId = await services.admitAt(key, instanceId, new Date(Date.now() - 10 * 86_400_000))
  process.settle({ callId, outcome: 'done', durationMs: 1 })
  await process.close(5_000)
  await services.database.sql.query('DELETE FROM calls')
  const ledgerDrifts = async (retentionDays: number) =>
    (await verifyUsage(services.database.sql, { retentionDays, extent: 'all' })).filter(({ equation }) =>
      equation.startsWith('ledger'),
    )
  expect(await ledgerDrifts(5)).toEqual([])
  expect(await ledgerDrifts(20)).toMatchObject([{ expected: 0, found: 1 }])
})

test('a check of the last days does not check older days', async () => {
  const key = await services.ownKey(await services.join('premium'))
  const instanceId = v7()
  const process: Ledger = services.processOf(instanceId)
  const callId = await services.admitAt(key, instanceId, new Date(Date.now() - 3 * 86_400_000))
  process.settle({ callId, outcome: 'done', durationMs: 1 })
  await process.close(5_000)
  await services.database.sql.query("DELETE FROM rollups WHERE span = 'hour' AND grain = 'key'")
  const equations = async (extent: 'all' | 'recent') =>
    (await verifyUsage(services.database.sql, { retentionDays: 1, extent })).map(({ equation }) => equation)
  expect(await equations('recent')).not.toContain('rollups agree: hour, key')
  expect(await equations('all')).toContain('rollups agree: hour, key')
})

test('calls that have ended, but whose living process cannot write their ends, are named', async () => {
  const { sql } = services.database
  const key = await services.ownKey(await services.join('premium'))
  const instanceId = v7()
  const process: Ledger = services.processOf(instanceId)
  const [held = '', settled = ''] = await Promise.all(
    [1, 2].map(async () => {
      const admission = admissionOf(key)
      await process.admit(admission)
      return admission.callId
    }),
  )
  process.settle({ callId: settled, outcome: 'done', durationMs: 1 })
  await process.close(5_000)
  // Both had ended at the last heartbeat, and four more that it does not name.
  const concern = { concern: 'ledger_behind', since: 1, count: 6, calls: [held, settled] }
  await sql.query(
    `INSERT INTO instances (id, started_at, lease_until, host, pid, concerns)
     VALUES ($1, now(), now() + interval '1 h', 'gateway-1', 7, $2::jsonb)`,
    [instanceId, JSON.stringify([{ concern: 'disk_full', since: 1 }, concern])],
  )
  const equation = 'ended calls are settled'
  expect(await verify()).toEqual([
    { equation, subject: `call ${held}, process gateway-1 7`, expected: 1, found: 0 },
    { equation, subject: 'further calls, process gateway-1 7', expected: 4, found: 0 },
  ])
  // The gateways alert of it otherwise.
  expect(await verifyUsage(sql, { retentionDays: 400, extent: 'recent' })).toEqual([])

  // The calls of a dead process are settled by another, and a call that is not named may still run.
  await sql.query("UPDATE instances SET lease_until = now() - interval '1 s' WHERE id = $1", [instanceId])
  expect(await verify()).toEqual([])
  await sql.query(
    `UPDATE instances SET lease_until = now() + interval '1 h', concerns = '[]' WHERE id = $1`,
    [instanceId],
  )
  expect(await verify()).toEqual([])
})
