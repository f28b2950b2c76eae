import { createScratchDatabase } from '@trunkline/gateway/src/core/database/scratch-database.test-support.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { apiOf } from '../support/api.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { query } from '../support/query.ts'
import { type ScriptedPlatform, sse, startScriptedPlatform } from '../support/scripted-platform.ts'

// A process, because replicas start with different secrets in their environments.

const server = process.env.E2E_DATABASE_URL ?? ''
const OLD = `old-${'o'.repeat(32)}`
const NEW = `new-${'n'.repeat(32)}`

interface Replica {
  readonly gateway: TestGateway
  readonly env: Record<string, string>
}

describe.skipIf(server === '')('two replicas', () => {
  let database: Awaited<ReturnType<typeof createScratchDatabase>>
  let platform: ScriptedPlatform
  let replicas: readonly [Replica, Replica]
  let key: string
  /** The ids under which the platform knows the conversation of every call. */
  const conversations = new Set<unknown>()
  /** One of each login so far. */
  const tokens: string[] = []

  beforeAll(async () => {
    database = await createScratchDatabase(server)
    platform = await startScriptedPlatform(async (_path, body, response) => {
      conversations.add(body.chatId)
      response.setHeader('content-type', 'text/event-stream')
      response.end(sse({ choices: [{ delta: { content: 'Hi' }, finish_reason: 'stop' }] }))
    })
    const agents = { fastgpt: { baseUrl: platform.origin, apiKey: 'key' } }
    const start = async (): Promise<Replica> => {
      const env = { SECRET_KEY: OLD, SECRET_KEY_PREVIOUS: '' }
      return {
        gateway: await startGateway({ config: JSON.stringify({ agents }), databaseUrl: database.url, env }),
        env,
      }
    }
    replicas = [await start(), await start()]
    const api = apiOf(replicas[0].gateway)
    key = (await api.createKey(await api.login())).full_key
  })
  afterAll(async () => {
    await Promise.all((replicas ?? []).map(({ gateway }) => gateway.remove()))
    await platform?.close()
    await database?.drop()
  })

  /** Logs in at each replica, and uses every token so far, a conversation and its key at both. */
  async function useBoth(): Promise<void> {
    for (const { gateway } of replicas) tokens.push(await apiOf(gateway).login())
    for (const { gateway } of replicas) {
      const api = apiOf(gateway)
      const answers = await Promise.all(tokens.map((token) => api.call('GET', '/api/v1/api-keys', { token })))
      expect(answers.map(({ status }) => status)).toEqual(tokens.map(() => 200))
      expect((await api.chat(key, 'fastgpt', { chat_id: 'one' })).status).toBe(200)
    }
  }

  /** Restarts one replica after the other with these values, and uses both at every moment between. */
  async function roll(env: Record<string, string>): Promise<void> {
    for (const replica of replicas) {
      expect(await replica.gateway.stop()).toBe(0)
      Object.assign(replica.env, env)
      await replica.gateway.start()
      await useBoth()
    }
  }

  const rewrite = async () => {
    const { code, output } = await replicas[0].gateway.trunkline('secrets', 'rewrite', '--json')
    expect(code).toBe(0)
    return JSON.parse(output)
  }

  test('change SECRET_KEY in four steps, between which every login, token and conversation works on both', {
    timeout: 180_000,
  }, async () => {
    await useBoth()
    await roll({ SECRET_KEY: OLD, SECRET_KEY_PREVIOUS: NEW })
    await roll({ SECRET_KEY: NEW, SECRET_KEY_PREVIOUS: OLD })
    expect(await rewrite()).toEqual({ rewritten: 1, unchanged: 0, unreadable: [], encrypted: true })
    expect(await rewrite()).toEqual({ rewritten: 0, unchanged: 1, unreadable: [], encrypted: true })
    await useBoth()
    await roll({ SECRET_KEY: NEW, SECRET_KEY_PREVIOUS: '' })
    expect(conversations.size).toBe(1)
  })

  test('accept the tokens of a new signing key at once, and those of the old one', async () => {
    const { code, output } = await replicas[0].gateway.trunkline('signing-keys', 'rotate', '--json')
    expect(code).toBe(0)
    const [signing, accepted] = JSON.parse(output)
    expect([signing.state, signing.encrypted, accepted.encrypted]).toEqual(['signing', true, null])
    await useBoth()
    for (const { gateway } of replicas) {
      const { body } = await apiOf(gateway).call('GET', '/.well-known/jwks.json')
      expect(body.keys.map(({ kid }: { kid: string }) => kid)).toEqual([signing.id, accepted.id])
    }
    expect(await query(database.url, 'SELECT secret FROM signing_keys WHERE id = $1', [accepted.id])).toEqual(
      [{ secret: '' }],
    )
  })

  test('name the variables when neither key reads the secrets', async () => {
    const [{ gateway, env }] = replicas
    await gateway.stop()
    Object.assign(env, { SECRET_KEY: OLD, SECRET_KEY_PREVIOUS: '' })
    expect(await gateway.trunkline('start')).toMatchObject({
      code: 1,
      output: expect.stringMatching(
        /^SECRET_KEY is not the one .* SECRET_KEY_PREVIOUS holds the other one\.$/m,
      ),
    })
    Object.assign(env, { SECRET_KEY: OLD, SECRET_KEY_PREVIOUS: `${OLD}!` })
    expect(await gateway.trunkline('secrets', 'rewrite')).toMatchObject({
      code: 1,
      output: expect.stringMatching(/^The signing key .* cannot be read: neither SECRET_KEY nor /m),
    })
  })
})
