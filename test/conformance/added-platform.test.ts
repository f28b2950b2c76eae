import { fileURLToPath } from 'node:url'
import { ConfigError, parseConfig } from '@trunkline/gateway/src/config/load.ts'
import { BUILT_IN, createRegistry } from '@trunkline/gateway/src/core/agents/registry.ts'
import { startEmulator } from '@trunkline/sandbox/src/serving/start-emulator.ts'
import { describe, expect, test } from 'vitest'
import { echo } from '../fixtures/platforms/echo/adapter.ts'
import { echoEmulator } from '../fixtures/platforms/echo/emulator.ts'
import { apiOf } from '../support/api.ts'
import { startGateway } from '../support/gateway.ts'
import { describeConformance } from './describe-conformance.ts'
import { dialectsIn } from './dialects-in.ts'

// A process, because the platform is added to the list with which a gateway starts, so a gateway must start with it.

/*
 * Adding a platform takes one folder and one line. The folder here is test/fixtures/platforms/echo, and the line is in
 * test/fixtures/platforms/main.ts, in the list of adapters with which the gateway starts.
 */
const folders = new URL('../fixtures/platforms/', import.meta.url)
const main = fileURLToPath(new URL('main.ts', folders))

describeConformance({
  folders,
  main,
  dialects: await dialectsIn(folders),
  async startEmulators() {
    const { agent, close } = await startEmulator(echoEmulator, { delayMs: 0 })
    return { agents: { echo: agent }, close }
  },
})

describe('a gateway with a further platform', () => {
  const platforms = createRegistry([...BUILT_IN, echo])
  const entry = { baseUrl: 'https://echo.example.com', apiKey: 'k' }

  test('accepts an entry with an id alone, and applies the display name and the defaults of the platform', () => {
    const { agents } = parseConfig({ agents: { echo: entry } }, {}, undefined, platforms)
    expect(agents).toMatchObject([{ id: 'echo', name: 'Echo', options: { volume: 'quiet' } }])
  })

  test.each<[string, object, string]>([
    [
      'an unknown value of its option',
      { volume: 'shrill' },
      'volume: expected one of quiet, loud, got "shrill"',
    ],
    ['an option of another platform', { mode: 'chat' }, 'mode: only for agents of the platform dify'],
    ['a mistyped option', { volum: 'loud' }, 'volum: unknown property, did you mean "volume"?'],
    ['no key', { apiKey: undefined }, 'apiKey: missing, expected here or in every app'],
  ])('rejects an entry with %s', (_, change, issue) => {
    const file = { agents: { echo: { ...entry, ...change } } }
    expect(issuesOf(file)).toEqual([`agents.echo.${issue}`])
  })

  test('rejects its options on other platforms', () => {
    const coze = { baseUrl: 'https://api.coze.com', apiKey: 'k', volume: 'loud' }
    expect(issuesOf({ agents: { coze } })).toEqual([
      'agents.coze.volume: only for agents of the platform echo',
    ])
  })

  test('lists it in records and in the contract, and passes its options to the adapter', async () => {
    const { agent, close } = await startEmulator(echoEmulator, { delayMs: 0 })
    const { baseUrl, apiKey } = agent
    const agents = { echo: { baseUrl, apiKey, volume: 'loud' } }
    const gateway = await startGateway({ main, config: JSON.stringify({ agents }) })
    try {
      const listed = await readJson(`${gateway.url}/api/v1/agents`)
      expect(listed).toMatchObject({ data: { items: [{ platform: 'echo', status: 'available' }] } })
      const contract = await readJson(`${gateway.url}/openapi.json`)
      expect(contract).toMatchObject({
        components: { schemas: { Agent: { properties: { platform: { enum: platforms.names } } } } },
      })
      const api = apiOf(gateway)
      const { full_key: key } = await api.createKey(await api.login())
      const response = await fetch(`${gateway.url}/api/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
        body: JSON.stringify({ model: 'echo', messages: [{ role: 'user', content: 'Hello' }] }),
      })
      expect(response.status).toBe(200)
      const sayRequests = agent.seen.requests.filter(({ path }) => path === '/say')
      expect(sayRequests.map(({ body }) => body.volume)).toEqual(['loud'])
    } finally {
      await gateway.remove()
      await close()
    }
  })

  function issuesOf(file: object): readonly string[] {
    try {
      parseConfig(file, {}, undefined, platforms)
    } catch (error) {
      if (error instanceof ConfigError) return error.issues
      throw error
    }
    return []
  }
})

async function readJson(url: string): Promise<unknown> {
  return (await fetch(url)).json()
}
