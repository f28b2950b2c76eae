import type { SandboxAgent, SandboxPlatform } from '@trunkline/sandbox'
import { ServiceUnavailableError, Trunkline } from '@trunkline/sdk'
import OpenAI, { APIError } from 'openai'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { askOnFace, FACES, type Told } from '../support/ask-on-face.ts'
import {
  createFullKey,
  dataUrlOf,
  type FilesInChats,
  filesInChats,
  PHOTO,
  REPORT,
  traceOf,
  WAYS,
} from '../support/files-in-chats.ts'
import { type GatewayWithSandbox, startGatewayWithSandbox } from '../support/gateway-with-sandbox.ts'
import { until } from '../support/until.ts'

// A process, because the packages of clients repeat by themselves, on connections and with waits of their own.

const PLATFORMS = ['fastgpt', 'hiagent', 'dify', 'coze', 'openai'] as const satisfies SandboxPlatform[]

let system: GatewayWithSandbox
let client: FilesInChats
let fullKey: string
/** The platform of the agent `down`. */
let fallible: SandboxAgent
/** Another address of each platform. */
const others = new Map<SandboxPlatform, SandboxAgent>()
/** An installation of Dify of its own. */
let separate: SandboxAgent

beforeAll(async () => {
  const plenty = { points: 100_000 }
  system = await startGatewayWithSandbox({
    settings: { limits: { chat: plenty, upload: plenty, calls: plenty } },
    async agents(entries, { agents, startSecond }) {
      fallible = await startSecond('openai')
      separate = await startSecond('dify')
      for (const platform of PLATFORMS)
        others.set(platform, await startSecond(platform, { sharesState: true }))
      const shared = PLATFORMS.map((platform) => {
        const { baseUrl } = agents[platform]
        const deployments = [
          { id: 'main', state: 'one', baseUrl },
          { id: 'other', state: 'one', priority: 1, baseUrl: others.get(platform)?.baseUrl },
        ]
        const apps = platform === 'fastgpt' ? { apps: { 'app-1': {} } } : {}
        return [`${platform}-shared`, { ...entries[platform], ...apps, deployments }] as const
      })
      return {
        ...Object.fromEntries(shared),
        down: { ...entries.openai, baseUrl: fallible.baseUrl },
        full: { ...entries.openai, concurrency: { max: 1, queue: 0, waitMs: 1_000 } },
        apart: {
          ...entries.dify,
          deployments: [{ id: 'main' }, { id: 'us', priority: 1, baseUrl: separate.baseUrl }],
        },
      }
    },
  })
  fullKey = await createFullKey(system)
  client = filesInChats(system, fullKey)
})
afterEach(async () => {
  const all = [...Object.values(system.sandbox.agents), ...others.values(), fallible, separate]
  await Promise.all(all.map(({ control }) => control.recover()))
})
afterAll(() => system?.remove())

const WAYS_TO_ASK = FACES.flatMap((face) => (['json', 'stream'] as const).map((mode) => ({ face, mode })))
type WayToAsk = (typeof WAYS_TO_ASK)[number]

const ask = (agent: string, way: WayToAsk) =>
  askOnFace({ url: system.gateway.url, key: fullKey, agent, ...way, message: { query: 'Hello' } })

/** What a face says of a refusal. */
async function refusalOf(agent: string, way: WayToAsk) {
  const { status, reason, retryAfter, shouldRetry } = await ask(agent, way)
  return { status, reason, retryAfter, shouldRetry }
}

/** Makes calls until the agent is refused at once. */
async function breakDown(): Promise<void> {
  await fallible.control.fail('refuse')
  await until('the agent is refused', async () => (await system.api.chat(fullKey, 'down')).status === 503)
}

/** Takes the only slot of the agent; returns what gives it back. */
async function fill(): Promise<() => Promise<void>> {
  const { seen } = system.sandbox.agents.openai
  const query = 'sandbox:hang'
  const before = seen.turns({ query })
  const held = new AbortController()
  const hold = async () => {
    // The slot of the test before is given back a moment after its client has left.
    const more = { query, stream: true, app_id: '' }
    const response = await system.api.chat(fullKey, 'full', more, { signal: held.signal })
    if (response.status === 503 && seen.turns({ query }) === before) return hold()
    return response.text()
  }
  const holding = hold().catch(() => undefined)
  await until('the slot is taken', () => seen.turns({ query }) > before)
  return async () => {
    held.abort()
    await holding
  }
}

/** What has been counted for the key and its owner. */
async function usage(): Promise<readonly [number, number]> {
  const { status, body } = await system.api.call('GET', '/api/v1/key', { token: fullKey })
  expect(status).toBe(200)
  return [body.data.usage.total_calls, body.data.quota.api_calls_count]
}

describe('an agent that is down is told in the words of each face, and costs nothing', () => {
  test.each(WAYS_TO_ASK)('to each client in its own way: $face, $mode', async (way) => {
    await breakDown()
    const before = await usage()
    const { retryAfter, ...rest } = await refusalOf('down', way)
    expect(rest).toEqual({ status: 503, reason: 'agent_unavailable', shouldRetry: 'true' })
    expect(Number(retryAfter)).toBeGreaterThan(0)
    expect(Number(retryAfter)).toBeLessThan(60)
    expect(await usage()).toEqual(before)
  })
})

describe('an agent that is full is told in the words of each face, and costs nothing', () => {
  test.each(WAYS_TO_ASK)('to each client in its own way: $face, $mode', async (way) => {
    const release = await fill()
    const before = await usage()
    try {
      expect(await refusalOf('full', way)).toEqual({
        status: 503,
        reason: 'agent_overloaded',
        retryAfter: '1',
        shouldRetry: 'true',
      })
      expect(await usage()).toEqual(before)
    } finally {
      await release()
    }
  })
})

/** Counts the statuses that a client gets, and calls back at the first refusal. */
function watched(onRefusal: () => unknown) {
  const statuses: number[] = []
  const watchedFetch: typeof fetch = async (input, init) => {
    const response = await fetch(input, init)
    statuses.push(response.status)
    if (response.status === 503 && statuses.length === 1) await onRefusal()
    return response
  }
  return { statuses, fetch: watchedFetch }
}

describe('a client repeats both refusals by itself, and succeeds when they are over', () => {
  const faults = [
    [
      'down',
      async () => {
        await breakDown()
        return () => fallible.control.recover()
      },
    ],
    ['full', fill],
  ] as const

  test.each(faults)(
    'openai: %s',
    async (model, begin) => {
      const { statuses, fetch } = watched(await begin())
      const baseURL = `${system.gateway.url}/api/v1`
      const openai = new OpenAI({ baseURL, apiKey: fullKey, maxRetries: 8, fetch })
      const messages = [{ role: 'user', content: 'Hello' } as const]
      const completion = await openai.chat.completions.create({ model, messages })
      expect(completion.choices[0]?.message.content).not.toBe('')
      expect(new Set(statuses.slice(0, -1))).toEqual(new Set([503]))
      expect(statuses.at(-1)).toBe(200)
    },
    60_000,
  )

  test.each(faults)(
    'SDK: %s',
    async (agent, begin) => {
      const { statuses, fetch } = watched(await begin())
      const sdk = new Trunkline({ baseURL: system.gateway.url, apiKey: fullKey, maxRetries: 8, fetch })
      const reply = await sdk.chat.create({ agent, query: 'Hello' })
      expect(reply.text).not.toBe('')
      expect(new Set(statuses.slice(0, -1))).toEqual(new Set([503]))
      expect(statuses.at(-1)).toBe(200)
    },
    60_000,
  )

  test('a client that does not repeat gets the error of its class', async () => {
    const release = await fill()
    const baseURL = `${system.gateway.url}/api/v1`
    const openai = new OpenAI({ baseURL, apiKey: fullKey, maxRetries: 0 })
    const messages = [{ role: 'user', content: 'Hello' } as const]
    const failed = await openai.chat.completions.create({ model: 'full', messages }).catch((error) => error)
    expect(failed).toBeInstanceOf(APIError)
    expect(failed).toMatchObject({ status: 503, code: 'agent_overloaded' })
    const sdk = new Trunkline({ baseURL: system.gateway.url, apiKey: fullKey, maxRetries: 0 })
    const refused = await sdk.chat.create({ agent: 'full', query: 'Hello' }).catch((error) => error)
    expect(refused).toBeInstanceOf(ServiceUnavailableError)
    expect(refused).toMatchObject({ status: 503, reason: 'agent_overloaded', retryAfterMs: 1_000 })
    await release()
  })
})

/** What a client sees of a reply, without what differs between any two calls. */
function seenOf({ status, headers, whole }: Told) {
  const text = whole
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'ID')
    .replaceAll(/"(id|created|created_at|completed_at|conversation_id)":("[^"]*"|\d+)/g, '"$1":X')
    .replaceAll(/(resp|msg|rs)_[0-9A-Za-z-]+/g, '$1_ID')
  return { status, headers: [...headers.keys()].filter((name) => name !== 'date').sort(), text }
}

/** The calls of an agent, the newest first, once all have ended. */
function rowsOf(agent: string): Promise<readonly object[]> {
  return until('all have ended', async () => {
    const { body } = await system.api.call('GET', `/api/v1/calls?limit=100&agent=${agent}`, {
      token: system.token,
    })
    const rows: { outcome: string | null }[] = body.data.items
    return rows.every(({ outcome }) => outcome !== null) && rows
  })
}

describe('a call whose first deployment refuses the connection', () => {
  // Faces and platforms know nothing of each other, so each way to ask has one platform.
  const cases = WAYS_TO_ASK.map((way, index) => ({
    ...way,
    platform: PLATFORMS[index % PLATFORMS.length] ?? 'openai',
  }))
  test.each(cases)(
    '$platform, $face, $mode: is as an ordinary call to its client, one row, and counted once',
    async ({ platform, ...way }) => {
      const agent = `${platform}-shared`
      const plain = seenOf(await ask(agent, way))
      expect([plain.status, plain.text]).toEqual([200, expect.not.stringMatching(/"errors?":[^n]/)])
      // Enough calls succeed that the breaker stays closed.
      for (let call = 0; call < 3; call += 1) await ask(agent, way)
      const counted = await usage()
      const rows = await rowsOf(agent)
      await system.sandbox.agents[platform].control.fail('refuse')
      expect(seenOf(await ask(agent, way))).toEqual(plain)
      const after = await rowsOf(agent)
      expect(after.length - rows.length).toBe(1)
      expect(after[0]).toMatchObject({ outcome: 'done', reason: null, attempts: 2, deployment: 'other' })
      expect(await usage()).toEqual([counted[0] + 1, counted[1] + 1])
    },
  )
})

describe('files of a call whose first deployment refuses the connection', () => {
  const uploadsAt = ({ seen }: SandboxAgent) =>
    seen.requests.filter(({ path }) => path.endsWith('/files/upload')).length

  test.each(WAYS)('go to the other one, read again: %s', async (way) => {
    const { url } = await client.upload(REPORT)
    await system.sandbox.agents.dify.control.fail('refuse')
    const reply = await client.ask({ agent: 'apart', way, files: [url] })
    expect(reply.status).toBe(200)
    expect(reply.text).toContain(traceOf(REPORT))
    expect(await client.callsOf(reply)).toMatchObject([{ outcome: 'done' }])
  })

  test('go to the other one with the request that carries them', async () => {
    await system.sandbox.agents.dify.control.fail('refuse')
    const parts = [{ type: 'image_url', image_url: { url: dataUrlOf(PHOTO) } }]
    const reply = await client.ask({ agent: 'apart', way: 'completions', parts })
    expect(reply.status).toBe(200)
    expect(reply.text).toContain(traceOf(PHOTO))
  })

  test('are brought to each installation, and once to what two addresses share', async () => {
    const { url } = await client.upload(REPORT)
    const first = system.sandbox.agents.dify
    const shared = others.get('dify')
    if (shared === undefined) throw new Error('no other address')
    const chatsAt = ({ seen }: SandboxAgent) =>
      seen.requests.filter(({ path }) => path.endsWith('chat-messages')).length
    for (const agent of ['apart', 'dify-shared'])
      await until('the first one is used again', async () => {
        const before = chatsAt(first)
        await client.ask({ agent })
        return chatsAt(first) > before
      })
    const counts = () => [first, separate, shared].map(uploadsAt)
    const ask = async (agent: string) => {
      const before = counts()
      const reply = await client.ask({ agent, files: [url] })
      expect([reply.status, reply.text]).toEqual([200, expect.stringContaining(traceOf(REPORT))])
      return counts().map((count, index) => count - (before[index] ?? 0))
    }
    expect(await ask('apart')).toEqual([1, 0, 0])
    expect(await ask('dify-shared')).toEqual([1, 0, 0])
    await first.control.fail('refuse')
    expect(await ask('apart')).toEqual([0, 1, 0])
    expect(await ask('dify-shared')).toEqual([0, 0, 0])
  })
})
