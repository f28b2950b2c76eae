import { readFileSync } from 'node:fs'
import { rename, writeFile } from 'node:fs/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Api, apiOf } from '../support/api.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { type Platform, startPlatform } from '../support/platform.ts'
import { query } from '../support/query.ts'
import { until } from '../support/until.ts'

// A process, because replicas share nothing but a database, and workers nothing but their primary.

const server = process.env.E2E_DATABASE_URL
const WORKERS = 2
const LIMITS = { chat: { points: 1_000_000 }, writes: { points: 10_000 }, adminWrites: { points: 10_000 } }

/** A process as the list of processes shows it. */
interface Listed {
  readonly id: string
  readonly pid: number
  readonly host: string
  readonly configuration: { readonly state: string; readonly number: number; readonly error: string | null }
}

describe.skipIf(server === undefined)('two replicas of two workers', () => {
  let platforms: Platform[]
  let replicas: TestGateway[]
  let apis: Api[]
  let token: string
  let key: string

  beforeAll(async () => {
    platforms = [await startPlatform(), await startPlatform()]
    const options = { config: configWith('a', 0), env: { WORKERS: String(WORKERS) } }
    const first = await startGateway(options)
    const second = await startGateway({ ...options, databaseUrl: first.databaseUrl ?? '' })
    replicas = [first, second]
    apis = replicas.map(apiOf)
    token = await apiAt(0).login()
    key = (await apiAt(0).createKey(token)).full_key
    await until('all workers live', async () => (await living()).length === 2 * WORKERS)
  })
  beforeEach(async () => {
    await write('a', 0)
    await reload()
  })
  afterAll(async () => {
    await Promise.all((replicas ?? []).map((each) => each.remove()))
    await Promise.all((platforms ?? []).map((each) => each.close()))
  })

  const apiAt = (replica: number) => apis[replica] as Api
  const gatewayAt = (replica: number) => replicas[replica] as TestGateway
  function configWith(agent: string, platform: number): string {
    const { baseUrl } = platforms[platform] as Platform
    const entry = { platform: 'openai', baseUrl, model: 'm', apiKey: `sk-fake-${agent}` }
    return JSON.stringify({ agents: { steady: entry, [agent]: entry }, limits: LIMITS })
  }
  async function write(agent: string, platform: number, which = [0, 1]): Promise<void> {
    for (const replica of which) await writeText(replica, configWith(agent, platform))
  }
  async function writeText(replica: number, text: string): Promise<void> {
    const { configFile } = gatewayAt(replica)
    await writeFile(`${configFile}.new`, text)
    await rename(`${configFile}.new`, configFile)
  }
  async function reload(replica = 0): Promise<Listed[]> {
    const { status, body } = await apiAt(replica).call('POST', '/api/v1/configuration/reload', { token })
    expect(status, JSON.stringify(body)).toBe(200)
    return body.data.processes
  }
  async function living(): Promise<Listed[]> {
    const { body } = await apiAt(0).call('GET', '/api/v1/processes?state=live', { token })
    return body.data.items
  }
  const statesOf = (processes: readonly Listed[]) =>
    processes.map(({ configuration }) => configuration?.state)
  const all = (state: string) => Array(2 * WORKERS).fill(state)
  const workersOf = async (replica: number) => {
    const { pid: primary } = gatewayAt(replica)
    const pids = readFileSync(`/proc/${primary}/task/${primary}/children`, 'utf8')
      .trim()
      .split(' ')
      .map(Number)
    return (await living()).filter(({ pid }) => pids.includes(pid))
  }
  /** The statuses of so many calls at a replica, each on a connection of its own, so that both workers get some. */
  async function statuses(agent: string, replica: number, calls = 8): Promise<Set<number>> {
    const answers = Array.from({ length: calls }, async () => {
      const response = await apiAt(replica).chat(key, agent, {}, { headers: { connection: 'close' } })
      await response.text()
      return response.status
    })
    return new Set(await Promise.all(answers))
  }

  test('all processes serve what one of them was told to read, when it answers', async () => {
    await write('b', 1)
    expect(statesOf(await reload(1))).toEqual(all('current'))
    for (const replica of [0, 1]) {
      expect(await statuses('b', replica)).toEqual(new Set([200]))
      expect(await statuses('a', replica)).toEqual(new Set([400]))
    }
  })

  test('reloads amid calls fail none of them', async () => {
    let isOver = false
    const failed: string[] = []
    let answered = 0
    const callers = [0, 1, 0, 1].map(async (replica) => {
      while (!isOver) {
        const response = await apiAt(replica).chat(key, 'steady', {}, { headers: { connection: 'close' } })
        const text = await response.text()
        if (response.status === 200) answered += 1
        else failed.push(text)
      }
    })
    for (let round = 0; round < 6; round += 1) {
      await write(`r${round}`, round % 2)
      expect(statesOf(await reload(round % 2))).toEqual(all('current'))
    }
    isOver = true
    await Promise.all(callers)
    expect(failed).toEqual([])
    expect(answered).toBeGreaterThan(20)
    expect((platforms[1] as Platform).received.length).toBeGreaterThan(0)
  })

  test('a file that is still on its way is shown as pending, and taken when it comes', async () => {
    await write('b', 1, [0])
    const states = statesOf(await reload())
    expect(states.toSorted()).toEqual(['current', 'current', 'pending', 'pending'])
    expect(await statuses('b', 1)).toEqual(new Set([400]))
    await write('b', 1, [1])
    await until('the other replica has it', async () =>
      statesOf(await living()).every((state) => state === 'current'),
    )
    expect(await statuses('b', 1)).toEqual(new Set([200]))
  })

  test('a mistake in the file of one replica is shown there, and the replica serves what it did', async () => {
    await write('b', 1, [0])
    await writeText(1, '{"agents": {"steady": {"platform": "nothing"}}}')
    const processes = await reload()
    const errors = processes.flatMap(({ configuration: { error } }) => (error === null ? [] : [error]))
    expect(errors).toEqual(
      Array(WORKERS).fill(expect.stringContaining('agents.steady.platform: expected one of')),
    )
    expect(await statuses('steady', 1)).toEqual(new Set([200]))
    expect(await statuses('a', 1)).toEqual(new Set([200]))
  })

  test('a worker that takes the place of a dead one serves what its sibling does, whatever is in the file', async () => {
    const [victim] = await workersOf(0)
    await writeText(0, 'agents: [')
    process.kill(victim?.pid ?? 0, 'SIGKILL')
    await gatewayAt(0).prints(/a worker was replaced/)
    expect(await statuses('a', 0, 12)).toEqual(new Set([200]))
  })

  test('the signal reaches a worker through the primary, and a worker ignores it', async () => {
    await write('b', 1)
    const [worker] = await workersOf(0)
    process.kill(worker?.pid ?? 0, 'SIGHUP')
    process.kill(gatewayAt(0).pid, 'SIGHUP')
    const number =
      "SELECT (value::jsonb ->> 'number')::int AS number FROM settings WHERE name = 'configuration_wanted'"
    await gatewayAt(0).prints(/the signal to reload was followed/)
    await until('all have followed the same reload', async () => {
      const [wanted] = await query<{ number: number }>(gatewayAt(0).databaseUrl ?? '', number)
      // A worker that was killed lives in the list until its lease is over.
      const processes = [...(await workersOf(0)), ...(await workersOf(1))]
      return processes.every(({ configuration }) => configuration.number === wanted?.number)
    })
    for (const replica of [0, 1]) expect(await statuses('b', replica)).toEqual(new Set([200]))
    expect((await workersOf(0)).map(({ id }) => id)).toContain(worker?.id)
  })
})
