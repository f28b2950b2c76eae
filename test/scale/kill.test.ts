import { createScratchDatabase } from '@trunkline/gateway/src/core/database/scratch-database.test-support.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Api, apiOf } from '../support/api.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { configOf, sendChat } from '../support/load.ts'
import { type Platform, startPlatform } from '../support/platform.ts'
import { until } from '../support/until.ts'

// A process, because a kill -9 under load must lose no call, and a restart must be quick.

const server = process.env.E2E_DATABASE_URL
const ROUNDS = process.env.SOAK ? (server === undefined ? 30 : 100) : 5
const CALLS = 40
/** A restart after a kill may take so many times the work of one after a stop, when there is nothing to recover. */
const RESTART_TIMES_MORE = 2

let database: Awaited<ReturnType<typeof createScratchDatabase>> | undefined
let platform: Platform
let victim: TestGateway
/** On a database server another process settles the calls of the dead one; an embedded database has a single owner. */
let survivor: TestGateway | undefined
let api: Api
let token: string
let key: { id: string; full_key: string; owner_id: string }

beforeAll(async () => {
  platform = await startPlatform()
  database = server === undefined ? undefined : await createScratchDatabase(server)
  const options = {
    config: configOf(platform, { instance: { leaseMs: 2_000 } }),
    ...(database !== undefined && { databaseUrl: database.url }),
  }
  victim = await startGateway(options)
  survivor = database && (await startGateway(options))
  api = apiOf(survivor ?? victim)
  token = await api.login()
  key = await api.createKey(token)
})
afterAll(async () => {
  await victim?.remove()
  await survivor?.remove()
  await platform?.close()
  await database?.drop()
})

test(`${ROUNDS} times kill -9 under load: no call is lost or counted twice, and a restart takes at most ${RESTART_TIMES_MORE} times the work of one after a stop`, {
  timeout: 120_000 + ROUNDS * 20_000,
}, async () => {
  await victim.stop()
  await victim.start()
  const allowedSeconds = RESTART_TIMES_MORE * (await processorSecondsOf(victim))
  let slowestMs = 0
  for (let round = 0; round < ROUNDS; round += 1) {
    // In odd rounds replies are held, so the process dies with every call in flight. In even rounds it dies at any point.
    if (round % 2 === 1) platform.hold()
    const reached = platform.received.length
    const sent = Promise.all(Array.from({ length: CALLS }, () => sendChat(victim.url, key.full_key)))
    await platform.receives(reached + 1 + ((round * 7) % CALLS))
    await victim.kill()
    platform.release()
    await sent
    const killedMs = performance.now()
    await victim.start()
    slowestMs = Math.max(slowestMs, performance.now() - killedMs)
    expect(await processorSecondsOf(victim)).toBeLessThan(allowedSeconds)
  }
  console.log(`${ROUNDS} rounds; the slowest restart took ${Math.round(slowestMs)} ms.`)
  if (survivor === undefined) api = apiOf(victim)

  const calls = await until('every call has an end', async () => {
    const all = await ledgerOf(key.id)
    return all.every(({ outcome }) => outcome !== '') && all
  })
  const ids = calls.map(({ requestId }) => requestId)
  expect(new Set(ids).size).toBe(ids.length)
  expect(platform.received.filter((id) => !ids.includes(id))).toEqual([])
  expect(new Set(calls.map(({ outcome }) => outcome))).toContain('interrupted')

  const { body } = await api.call('GET', `/api/v1/users/${key.owner_id}`, { token })
  expect(body.data.api_calls_count).toBe(calls.length)
  const record = await api.call('GET', `/api/v1/api-keys/${key.id}`, { token })
  expect(record.body.data.usage).toMatchObject({ total_calls: calls.length, calls_today: calls.length })
  const verified = await victim.trunkline('usage', 'verify')
  expect(verified.output).toContain('agree')
  expect(verified.code).toBe(0)
})

interface LedgerLine {
  readonly requestId: string
  readonly outcome: string
}

/** CPU time that the process itself reports since its start, in seconds. */
async function processorSecondsOf({ url }: TestGateway): Promise<number> {
  const text = await fetch(`${url}/metrics`).then((response) => response.text())
  return Number(/^trunkline_process_cpu_seconds_total (\S+)$/m.exec(text)?.[1])
}

/** Exports the whole ledger into one file, as an operator does. */
async function ledgerOf(keyId: string): Promise<LedgerLine[]> {
  const { body } = await api.call('GET', `/api/v1/calls?format=csv&key_id=${keyId}`, { token })
  const [header = '', ...lines] = (body as string).trimEnd().split('\r\n')
  const names = header.split(',')
  return lines.map((line) => {
    const cells = line.split(',')
    return {
      requestId: cells[names.indexOf('request_id')] ?? '',
      outcome: cells[names.indexOf('outcome')] ?? '',
    }
  })
}
