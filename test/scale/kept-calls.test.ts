import { randomBytes, randomUUID } from 'node:crypto'
import {
  type DeafProxy,
  startDeafProxy,
} from '@trunkline/gateway/src/core/reply-log/wake-ups/deaf-proxy.test-support.ts'
import type { SandboxPlatform } from '@trunkline/sandbox'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { halfRequest } from '../support/half-request.ts'
import {
  failureOf,
  idsOf,
  type KeptQuestion,
  keptBody,
  lastIdOf,
  readWithCuts,
  reasonOf,
  receivedOf,
  withoutComments,
} from '../support/kept-calls.ts'
import { type KeptReplicas, startKeptReplicas } from '../support/kept-replicas.ts'
import { answeredOf, askAll, begin, killAmidCalls, outcomesOf, stopTimes } from '../support/kept-trials.ts'
import { query } from '../support/query.ts'
import { type Steps, startSteps } from '../support/stepwise-platform.ts'
import { readerOf } from '../support/stream.ts'
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts'
import { until } from '../support/until.ts'

// A process, because replicas share nothing but a database and Redis, and one of them is killed.
// It takes over a minute, because pairs of replicas are started for each way of waking a reader, and leases must run out.

const server = process.env.E2E_DATABASE_URL ?? ''
const redisUrl = process.env.E2E_REDIS_URL ?? ''

const SILENT = 'sandbox:silence Hello'
/** How many clients send the same request at once. */
const SAME = process.env.SOAK ? 1_000 : 60

const CUT_QUERIES = [
  'sandbox:slow=8 sandbox:long=12 Hello',
  'sandbox:slow=8 sandbox:error-midstream Hello',
  'sandbox:slow=8 sandbox:echo ä€👩‍👩‍👧 \u2028 data: x',
]
/** Of the platforms only Dify takes back what it said. */
const REPLACED = 'sandbox:slow=8 sandbox:replace sandbox:echo ä€👩‍👩‍👧 \u2028 data: x'

const PLATFORMS = ['fastgpt', 'hiagent', 'dify', 'coze', 'openai'] as const satisfies SandboxPlatform[]

/** Breaks the connections of readers of every platform's replies at every event, at two gateways in turn. */
async function expectCutsAreHarmless(replicas: KeptReplicas): Promise<void> {
  const [one, other] = [replicas.client(0), replicas.client(1)]
  const questions = [
    ...PLATFORMS.flatMap((agent) =>
      CUT_QUERIES.map((words) => ({ agent, query: words, face: 'chat' as const })),
    ),
    { agent: 'dify', query: CUT_QUERIES[0] ?? '', face: 'openai' as const },
    { agent: 'dify', query: CUT_QUERIES[1] ?? '', face: 'responses' as const },
    ...(['chat', 'responses'] as const).map((face) => ({ agent: 'dify' as const, query: REPLACED, face })),
  ]
  for (const { face, ...question } of questions) {
    const { response, callId } = await begin(one, question, face)
    const readers = [true, false].flatMap((isMidEvent) =>
      [[other, one], [other]].map((clients) => readWithCuts({ clients, call: callId, isMidEvent })),
    )
    const whole = withoutComments(await response.text())
    const what = `${face} ${question.agent} ${question.query}`
    expect(idsOf(whole), what).toEqual(idsOf(whole).map((_, index) => index + 1))
    for (const text of await Promise.all(readers)) expect(text, what).toBe(whole)
    expect(await (await other.resume(callId)).text(), what).toBe(whole)
    // A reader that comes after the end is served from what is stored.
    for (const isMidEvent of [true, false]) {
      expect(await readWithCuts({ clients: [other, one], call: callId, isMidEvent }), what).toBe(whole)
    }
  }
}

const median = (times: readonly number[]) => times[times.length >> 1] ?? Number.NaN

describe.skipIf(server === '')('two replicas without Redis', () => {
  let replicas: KeptReplicas

  beforeAll(async () => {
    replicas = await startKeptReplicas(server, [{}, {}], {
      settings: { instance: { leaseMs: 2_000 }, drain: { timeoutMs: 3_000 } },
    })
  })
  afterAll(() => replicas?.remove())

  test('a stream that breaks at every event, or within, goes on at the other one with the same bytes', () =>
    expectCutsAreHarmless(replicas))

  test('a stop at the other one reaches the platform by a notification of the database', async () => {
    // Without one it would take half a second on average.
    expect(median(await stopTimes(replicas, 7))).toBeLessThan(300)
  })

  test('kill -9: clients get a prefix and are told that it was interrupted, and nothing is run again', {
    timeout: 120_000,
  }, async () => {
    const rounds = process.env.SOAK ? 20 : 2
    let interrupted = 0
    for (let round = 0; round < rounds; round += 1) {
      const killed = await killAmidCalls(replicas)
      expect(killed.faults).toEqual([])
      interrupted += killed.interrupted
    }
    expect(interrupted).toBeGreaterThan(rounds)
    const { code, output } = await (replicas.gateways[1] as KeptReplicas['gateways'][0]).trunkline(
      ...['usage', 'verify'],
    )
    expect(output).toContain('agree')
    expect(code).toBe(0)
  })

  test('a process that stops still serves what is kept, and its readers go on elsewhere', async () => {
    const [stopping, staying] = replicas.gateways as [
      KeptReplicas['gateways'][0],
      KeptReplicas['gateways'][0],
    ]
    const [here, there] = [replicas.client(0), replicas.client(1)]
    const ended = await begin(here, { query: 'Hello' })
    const whole = await ended.response.text()
    const slow = { query: 'sandbox:slow=20 sandbox:long=150 Hello' }
    // One outlasts the drain, one is stopped in it, and one runs elsewhere.
    const outlasting = await begin(here, { query: SILENT })
    const stopped = await begin(here, { query: SILENT })
    const elsewhere = await begin(there, slow)
    const readers = {
      outlasting: [outlasting.response, await there.resume(outlasting.callId)].map(receivedOf),
      stopped: [stopped.response, await there.resume(stopped.callId)].map(receivedOf),
      elsewhere: receivedOf(await here.resume(elsewhere.callId)),
    }
    const open = (path: string, method: string, more = {}) =>
      halfRequest(stopping.url, replicas.key, { path, method, body: '', ...more })
    const asks = (idempotencyKey: string, asked: string) => ({
      headers: { 'idempotency-key': idempotencyKey },
      body: JSON.stringify(keptBody('chat', { query: asked, stream: true, conversation: idempotencyKey })),
    })
    const [resume, stop, replay, reply, fresh] = await Promise.all([
      open(`/api/v1/calls/${ended.callId}/stream?after=${lastIdOf(whole) - 1}`, 'GET'),
      open(`/api/v1/calls/${stopped.callId}/stop`, 'POST'),
      open('/api/v1/chat', 'POST', asks(ended.key, 'Hello')),
      open(`/api/v1/calls/${ended.callId}/reply`, 'GET'),
      open('/api/v1/chat', 'POST', asks(randomUUID(), 'Hello')),
    ])
    const exited = stopping.stop()
    await stopping.prints(/"msg":"draining"/)

    expect(await resume.finish()).toMatch(/^HTTP\/1\.1 200 .*data: \[DONE\]\nid: \d+\n\n/s)
    expect(await replay.finish()).toMatch(
      /^HTTP\/1\.1 200 .*idempotent-replayed: true.*data: \[DONE\]\nid: \d+\n\n/s,
    )
    expect(await reply.finish()).toMatch(/^HTTP\/1\.1 200 .*"choices"/s)
    expect(await stop.finish()).toMatch(/^HTTP\/1\.1 200 /)
    expect(await fresh.finish()).toMatch(/^HTTP\/1\.1 503 .*"reason":"draining"/s)
    for (const text of await Promise.all(readers.stopped)) expect(failureOf(text)).toBe('stopped')
    const prefix = await readers.elsewhere
    expect([failureOf(prefix), prefix.includes('[DONE]')]).toEqual([undefined, false])
    const rest = await (await there.resume(elsewhere.callId, { lastEventId: lastIdOf(prefix) })).text()
    expect(prefix + withoutComments(rest)).toBe(withoutComments(await elsewhere.response.text()))
    const [own, other] = await Promise.all(readers.outlasting)
    expect(failureOf(own ?? '')).toBe('draining')
    expect(other).toBe(own)
    expect(await exited).toBe(0)
    expect(await (await there.resume(outlasting.callId)).text()).toBe(own)
    expect(staying.output).not.toContain('"level":"error"')
    await stopping.start()
  })
})

describe.skipIf(server === '' || redisUrl === '')('four replicas with Redis and SECRET_KEY', () => {
  let replicas: KeptReplicas

  beforeAll(async () => {
    const env = { REDIS_URL: `${redisUrl}/9`, SECRET_KEY: randomBytes(32).toString('base64') }
    replicas = await startKeptReplicas(server, [{ env }, { env }, { env }, { env }])
  })
  afterAll(() => replicas?.remove())

  const askAllOf = (apiKey: string, idempotencyKey: string, question: KeptQuestion) =>
    askAll(replicas, apiKey, idempotencyKey, { ...question, times: SAME })
  const turnsOf = (asked: string) => replicas.sandbox.agents.dify.seen.turns({ query: asked })
  const countsOf = (answers: readonly { status: number; text: string }[]) => {
    const counts: Record<string, number> = {}
    for (const { status, text } of answers) {
      const name = text.startsWith('{') ? (reasonOf(text) ?? String(status)) : String(status)
      counts[name] = (counts[name] ?? 0) + 1
    }
    return counts
  }

  test('a stream that breaks at every event, or within, goes on at the other one with the same bytes', () =>
    expectCutsAreHarmless(replicas))

  test('a stop at another one reaches the platform by a message of Redis', async () => {
    expect(median(await stopTimes(replicas, 7))).toBeLessThan(300)
  })

  test.each([
    ['stream', true],
    ['JSON', false],
  ])(`${SAME} times the same request: one turn, one row, and the same %s answers`, async (_, stream) => {
    const { id, full_key: apiKey } = await replicas.api.createKey(replicas.token)
    const asked = `sandbox:slow=10 sandbox:long=40 ${randomUUID()}`
    const question = { agent: 'dify', query: asked, stream }
    const key = randomUUID()
    const [first, ...others] = await askAllOf(apiKey, key, question)
    expect(first?.status).toBe(200)
    for (const other of others) expect(other).toEqual(first)
    for (const later of await askAllOf(apiKey, key, question)) expect(later).toEqual(first)
    expect(turnsOf(asked)).toBe(1)
    expect(await answeredOf(replicas, id)).toEqual(['done'])
    const counted = await until('every repetition is counted', async () => {
      const [row] = await query<{ replays: number }>(
        replicas.databaseUrl,
        'SELECT replays::int FROM calls WHERE key_id = $1',
        [id],
      )
      return row?.replays === 2 * SAME - 1 && row.replays
    })
    expect(counted).toBe(2 * SAME - 1)
  })

  test('the same where the platform cannot be reached at first: nobody gets an answer, and then all the same', async () => {
    const { id, full_key: apiKey } = await replicas.api.createKey(replicas.token)
    const { control } = replicas.sandbox.agents.coze
    const key = randomUUID()
    await control.fail('refuse')
    const refused = await askAllOf(apiKey, key, { agent: 'coze', stream: true })
    await control.recover()
    expect(refused.filter(({ status }) => status !== 502 && status !== 503)).toEqual([])
    const asked = `Hello ${key}`
    const before = (await outcomesOf(replicas, id)).filter((outcome) => outcome === 'done')
    expect(before).toEqual([])
    const [first, ...others] = await askAllOf(apiKey, key, { agent: 'dify', query: asked, stream: true })
    expect(first?.status).toBe(200)
    for (const other of others) expect(other).toEqual(first)
    expect(turnsOf(asked)).toBe(1)
    expect((await outcomesOf(replicas, id)).filter((outcome) => outcome === 'done')).toHaveLength(1)
  })

  test('the same over quota: no turn and no claim; and for the last unit of it one turn', async () => {
    const { api, token } = replicas
    const user = await api.createUser(token, 'quota', { max_api_calls: 1 })
    const { id, full_key: apiKey } = await api.createKey(token, { owner_id: user.id })
    const [last, over] = [randomUUID(), randomUUID()]
    const question = (key: string) => ({ agent: 'dify', query: `Hello ${key}`, stream: true })
    const answers = await askAllOf(apiKey, last, question(last))
    const [answered] = answers.filter(({ status }) => status === 200)
    expect(answered).toBeDefined()
    for (const answer of answers) {
      // One that races the first for the last unit is refused, and attached at its next try.
      if (answer.status === 200) expect(answer).toEqual(answered)
      else expect(reasonOf(answer.text)).toBe('quota_exceeded')
    }
    for (const answer of await askAllOf(apiKey, last, question(last))) expect(answer).toEqual(answered)
    expect(countsOf(await askAllOf(apiKey, over, question(over)))).toEqual({ quota_exceeded: SAME })
    expect(turnsOf(question(over).query)).toBe(0)
    await api.call('PATCH', `/api/v1/users/${user.id}`, { token, body: { max_api_calls: 10 } })
    expect(countsOf(await askAllOf(apiKey, over, question(over)))).toEqual({ 200: SAME })
    expect([turnsOf(question(last).query), turnsOf(question(over).query)]).toEqual([1, 1])
    expect(await answeredOf(replicas, id)).toEqual(['done', 'done'])
  })

  test('the same with a key that is revoked meanwhile: all end, and nobody is answered after it', async () => {
    const { api, token } = replicas
    const { id, full_key: apiKey } = await api.createKey(token)
    const key = randomUUID()
    const question = { agent: 'dify', query: `${SILENT} ${key}` }
    const asking = askAllOf(apiKey, key, question)
    await replicas.sandbox.agents.dify.seen.waitFor(() => turnsOf(question.query) === 1)
    await api.call('POST', `/api/v1/api-keys/${id}/revoke`, { token })
    expect(countsOf(await asking)).toEqual({ key_revoked: SAME })
    expect(countsOf(await askAllOf(apiKey, key, question))).toEqual({ key_revoked: SAME })
    expect(turnsOf(question.query)).toBe(1)
    expect(await outcomesOf(replicas, id)).toHaveLength(1)
  })
})

describe.skipIf(server === '')('two replicas that nothing tells of each other', () => {
  const proxies: DeafProxy[] = []
  let replicas: KeptReplicas

  beforeAll(async () => {
    const reach = async (databaseUrl: string) => {
      const proxy = await startDeafProxy(databaseUrl)
      proxies.push(proxy)
      return proxy.url
    }
    replicas = await startKeptReplicas(server, [{ reach }, { reach }])
  })
  afterAll(async () => {
    await replicas?.remove()
    for (const proxy of proxies) proxy.close()
  })

  test('a stop at the other one reaches the platform, since each looks at the database', async () => {
    const times = await stopTimes(replicas, 3)
    // It looks every second; a busy machine adds to that.
    expect(times.at(-1)).toBeLessThan(4_000)
  })

  test('a reader at the other one is at most a moment behind', async () => {
    const asked = { query: 'sandbox:slow=20 sandbox:long=100 Hello' }
    const { response, callId } = await begin(replicas.client(0), asked)
    const reader = readerOf(await replicas.client(1).resume(callId))
    // It reads events of a call that is still running.
    await reader.until(/^id: 20$/m)
    expect((await replicas.client(1).reply(callId)).status).toBe(202)
    expect(withoutComments(await reader.rest())).toBe(withoutComments(await response.text()))
  })
})

describe.skipIf(server === '' || redisUrl === '')(
  'of two replicas, one whose database and Redis can fail:',
  () => {
    let replicas: KeptReplicas
    let database: TcpProxy
    let redis: TcpProxy
    let platform: Steps

    beforeAll(async () => {
      redis = await startTcpProxy(`${redisUrl}/9`)
      platform = await startSteps()
      const reach = async (databaseUrl: string) => {
        database = await startTcpProxy(databaseUrl)
        return database.url
      }
      const env = { REDIS_URL: redis.url }
      replicas = await startKeptReplicas(server, [{ env, reach }, { env }], {
        agents: {
          steps: { platform: 'openai', baseUrl: `${platform.origin}/v1`, apiKey: 'none', model: 'steps' },
        },
      })
    })
    afterAll(async () => {
      await replicas?.remove()
      await database?.close()
      await redis?.close()
      await platform?.close()
    })

    /** A run in the first gateway, with a reader at each. */
    async function beginSteps() {
      // The response begins with the first event. A request of this face leaves nothing to store for its conversation.
      const beginning = begin(replicas.client(0), { agent: 'steps', conversation: '' }, 'openai')
      await platform.send('one')
      const { response, callId } = await beginning
      const near = readerOf(response)
      await near.until(/one/)
      const far = await replicas.client(1).resume(callId)
      return { callId, near, far: receivedOf(far) }
    }

    test.each([
      ['hangs', () => database.stall()],
      ['is away', () => database.cut()],
    ])(
      'the database %s in the middle: readers there get all of it at once, and the others later',
      async (_, fail) => {
        const { callId, near, far } = await beginSteps()
        await fail()
        try {
          await platform.send('two')
          await near.until(/two/)
          await platform.end('three')
          // Its end waits for the database, but only for a while.
          const text = withoutComments(await near.rest())
          expect(text).toMatch(/one.*two.*three.*\[DONE\]/s)
          expect(await (await replicas.client(1).reply(callId)).json()).toMatchObject({
            data: { call_id: callId },
          })
          await database.restore()
          expect(await far).toBe(text)
          expect(await (await replicas.client(1).resume(callId)).text()).toBe(text)
          const reply = await replicas.client(1).ended(callId)
          expect(await reply.text()).toContain('onetwothree')
        } finally {
          await database.restore()
        }
      },
    )

    test('the database is away for too much text: readers there get all of it, and the rest is gone for all others', async () => {
      const { callId, near, far } = await beginSteps()
      await database.cut()
      try {
        for (let step = 0; step < 6; step += 1) await platform.send(`${'x'.repeat(250_000)} large ${step}`)
        await near.until(/large 5/)
        await platform.end('three')
        const text = withoutComments(await near.rest())
        expect(text).toMatch(/one.*large 0.*large 5.*three.*\[DONE\]/s)
        expect(idsOf(text)).toEqual(idsOf(text).map((_, index) => index + 1))
        await database.restore()
        const prefix = await far
        expect([text.startsWith(prefix), prefix === text]).toEqual([true, false])
        const gone = await replicas.client(1).resume(callId, { lastEventId: lastIdOf(prefix) })
        expect([gone.status, reasonOf(await gone.text())]).toEqual([410, 'reply_gone'])
      } finally {
        await database.restore()
      }
    })

    test.each([
      ['hangs', () => redis.stall()],
      ['is away', () => redis.cut()],
    ])('Redis %s in the middle: readers elsewhere get all of it, and a stop arrives', async (_, fail) => {
      const { near, far } = await beginSteps()
      await fail()
      try {
        await platform.send('two')
        await near.until(/two/)
        await platform.end('three')
        expect(await far).toBe(withoutComments(await near.rest()))
        expect((await stopTimes(replicas, 1))[0]).toBeLessThan(6_000)
      } finally {
        await redis.restore()
      }
    })
  },
)
