import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type GatewayWithSandbox, startGatewayWithSandbox } from '../support/gateway-with-sandbox.ts'

// A process, because a kill -9 must find nothing in memory that the database lacks.

const ROUNDS = process.env.SOAK ? 20 : 2

// Starting a process takes long on a busy machine.
vi.setConfig({ testTimeout: ROUNDS * 60_000 })

const CLIENTS = 24
/** Number of answers after which the process is killed. */
const ANSWERS = 150

let system: GatewayWithSandbox
let keys: string[]

beforeAll(async () => {
  // On a database server the next process waits until the lease of the dead one has expired.
  system = await startGatewayWithSandbox({ settings: { instance: { leaseMs: 600 } } })
  const users = await Promise.all(
    ['ann', 'bob'].map((name) => system.api.createUser(system.token, name, { role: 'premium' })),
  )
  const made = await Promise.all(
    users.flatMap(({ id }) => [1, 2].map(() => system.api.createKey(system.token, { owner_id: id }))),
  )
  keys = made.map(({ full_key }) => full_key)
})
afterAll(() => system.remove())

/** Starts clients that call until the gateway is gone. */
function startLoad() {
  const ids: string[] = []
  const enough = Promise.withResolvers<void>()
  async function client(number: number): Promise<string> {
    for (let call = 0; ; call += 1) {
      const key = keys[(number + call) % keys.length] ?? ''
      const agent = number % 2 === 0 ? 'openai' : 'fastgpt'
      try {
        const more = { stream: number % 3 === 0, chat_id: `${number}-${call}` }
        const response = await system.api.chat(key, agent, more)
        // A machine that is too busy for an admission in time refuses the call, which is then not counted.
        if (response.status === 503) {
          await response.text()
          continue
        }
        if (response.status !== 200) return `${response.status} ${await response.text()}`
        ids.push(response.headers.get('x-call-id') ?? '')
        if (ids.length >= ANSWERS) enough.resolve()
        await response.text()
      } catch {
        return 'cut'
      }
    }
  }
  const ends = Promise.all(Array.from({ length: CLIENTS }, (_, number) => client(number)))
  return { ids, ends, enough: Promise.race([enough.promise, ends]) }
}

test('what was admitted before each kill -9 is counted and in the ledger, and nothing else', async () => {
  const admitted: string[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const { ids, ends, enough } = startLoad()
    await enough
    await system.gateway.kill()
    expect(new Set(await ends)).toEqual(new Set(['cut']))
    admitted.push(...ids)
    // It settles the calls of the dead process, and serves the next round.
    await system.gateway.start()
    if (system.gateway.databaseUrl !== undefined)
      await system.gateway.prints(/calls of dead instances were settled/)
  }
  await system.gateway.stop()
  const [state] = await system.gateway.query<State>(STATE)
  expect(state?.miscounted).toEqual([])
  const calls = new Map(state?.calls.map(({ id, outcome }) => [id, outcome]))
  expect(admitted.filter((id) => !calls.has(id))).toEqual([])
  expect(admitted.filter((id) => calls.get(id) === 'rejected')).toEqual([])
  const outcomes = new Set(calls.values())
  expect([...outcomes].filter((outcome) => outcome !== 'rejected').sort()).toEqual(['done', 'interrupted'])
})

interface State {
  readonly miscounted: unknown[]
  readonly calls: { id: string; outcome: string }[]
}

/** Selects the keys and users whose counter differs from the number of their calls, and the number of all calls. */
const STATE = `
WITH counted AS (
  SELECT k.id, k.total_calls AS counter, (SELECT count(*) FROM calls c WHERE c.key_id = k.id) AS rows FROM api_keys k
  UNION ALL
  SELECT u.id, u.api_calls_count, (SELECT count(*) FROM calls c WHERE c.owner_id = u.id) FROM users u
)
SELECT
  (SELECT coalesce(json_agg(counted), '[]') FROM counted WHERE counter <> rows) AS miscounted,
  (SELECT json_agg(json_build_object('id', id, 'outcome', outcome)) FROM calls) AS calls`
