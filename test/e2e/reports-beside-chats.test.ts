import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Api, apiOf, chatBody } from '../support/api.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { configOf } from '../support/load.ts'
import { type Platform, startPlatform } from '../support/platform.ts'

// A process, because the reports must not block the event loop of the gateway, and that of the test is not the one that counts.

const ROLLUPS = 200_000
const REPORTS = 150
const REPORTS_A_MINUTE = 60
const CHATS = 10
/** On a busy machine the first chat beside so many reports has taken 42 seconds. */
const TEST_TIMEOUT_MS = 180_000
/** On two busy cores the embedded database has taken two minutes for the rows. */
const FILL_WITHIN_MS = 600_000

let platform: Platform
let gateway: TestGateway
let api: Api
let reader: { readonly full_key: string; readonly id: string }
let caller: { readonly full_key: string }

beforeAll(async () => {
  platform = await startPlatform()
  gateway = await startGateway({ config: configOf(platform) })
  api = apiOf(gateway)
  const token = await api.login()
  reader = await api.createKey(token)
  const user = await api.createUser(token, 'caller')
  caller = await api.createKey(token, { owner_id: user.id })
  // An embedded database can be filled only while its gateway is stopped.
  await gateway.stop()
  await gateway.query(FILL, [reader.id, ROLLUPS])
  await gateway.start()
}, FILL_WITHIN_MS)
afterAll(async () => {
  await gateway?.remove()
  await platform?.close()
})

test(
  `${REPORTS} concurrent reports of one user do not delay the calls of another`,
  async () => {
    await chat()
    const statuses: number[] = []
    const report = async () => {
      const { status } = await api.call('GET', '/api/v1/usage?group_by=model', { token: reader.full_key })
      statuses.push(status)
    }
    const reports = Promise.allSettled(Array.from({ length: REPORTS }, report))
    const tookMs: number[] = []
    for (let call = 0; call < CHATS; call += 1) {
      const startedMs = performance.now()
      await chat()
      tookMs.push(Math.round(performance.now() - startedMs))
    }
    console.log(`chats beside ${REPORTS} reports: ${tookMs.join(', ')} ms`)
    // Calls that had waited behind the reports would find all of them answered.
    const answered = statuses.filter((status) => status === 200)
    expect(answered.length).toBeLessThan(REPORTS_A_MINUTE / 2)
    // One user has ten places, so most are refused before they count towards the limit of a minute.
    const refused = statuses.filter((status) => status === 429)
    expect(refused.length).toBeGreaterThanOrEqual(REPORTS - REPORTS_A_MINUTE)
    // The remaining reports need no answer.
    await gateway.kill()
    await reports
  },
  TEST_TIMEOUT_MS,
)

async function chat(): Promise<void> {
  const reply = await api.call('POST', '/api/v1/chat', {
    token: caller.full_key,
    headers: { agent: 'counting' },
    body: chatBody(),
  })
  // All of it, because a refusal says which limit or part of the gateway it comes from.
  expect(reply).toMatchObject({ status: 200 })
}

/** Inserts thirty days of calls of one key with thousands of apps. */
const FILL = `
INSERT INTO rollups
SELECT 'day', 'key', $1, date_trunc('day', now(), 'UTC') - n % 30 * interval '1 day', '', 'chat', 'counting', 'app-' || n / 30,
  'model', 'done', 10, 10, 100, 100, 200, '{"40":3,"41":2,"45":1,"50":4}', '{"60":3,"61":2,"65":1,"70":4}'
FROM generate_series(0, $2::int - 1) n`
