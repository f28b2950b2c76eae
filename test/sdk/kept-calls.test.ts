import {
  ConflictError,
  ConnectionError,
  GoneError,
  NotFoundError,
  StreamFailedError,
  Trunkline,
  UnprocessableContentError,
} from '@trunkline/sdk'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type CountedKey, createCountedKey } from '../support/calls-of-key.ts'
import { type GatewayWithSandbox, startGatewayWithSandbox } from '../support/gateway-with-sandbox.ts'
import { startTcpProxy } from '../support/tcp-proxy.ts'
import { until } from '../support/until.ts'

// A process, because connections are cut at every place, and the client goes on at another one.

// The waits before attempts to resume are real.
vi.setConfig({ testTimeout: 60_000 })

/** A reply of 40 fragments, which takes longer than the first attempt to resume it. */
const LONG = 'sandbox:slow=25 sandbox:long=40'
/** Where a connection is cut: before the headers, within them, and at bytes of which most are within an event. */
const CUTS = Array.from({ length: 7 }, (_, index) => index * 1_213)

let system: GatewayWithSandbox
let questions = 0

beforeAll(async () => {
  system = await startGatewayWithSandbox({ settings: { chat: { headerHoldMs: 500 } } })
})
afterAll(() => system?.remove())

interface Asker extends CountedKey {
  readonly client: Trunkline
  /** Method, path and cursor of every request of the client. */
  readonly requests: readonly string[]
}

async function createAsker(baseURL = system.gateway.url): Promise<Asker> {
  const counted = await createCountedKey(system)
  const requests: string[] = []
  const client = new Trunkline({
    baseURL,
    apiKey: counted.apiKey,
    agent: 'openai',
    fetch: (url, init) => {
      const cursor = new Headers(init?.headers).get('last-event-id')
      const path = new URL(`${url}`).pathname.replace('/api/v1', '')
      requests.push(`${init?.method} ${path}${cursor === null ? '' : ` ${cursor}`}`)
      return fetch(url, init)
    },
  })
  return { ...counted, client, requests }
}

/** A question that no other test asks, by which its runs are found. */
function questionOf(words: string): string {
  questions += 1
  return `${words} question-${questions}.`
}

const turnsOf = (query: string) => system.sandbox.agents.openai.seen.turns({ query })

async function firstChunk(chunks: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of chunks) return
}

/** The answer of the gateway itself. */
function ask({ apiKey }: CountedKey, path: string, init: RequestInit = {}): Promise<Response> {
  const headers = { ...init.headers, authorization: `Bearer ${apiKey}` }
  return fetch(`${system.gateway.url}/api/v1${path}`, { ...init, headers })
}

describe.concurrent('a connection that is cut', () => {
  test.concurrent.each(CUTS)(
    'after %i bytes of a stream: it goes on by itself and is whole',
    async (bytes) => {
      const query = questionOf(LONG)
      const whole = await system.api.chat(system.key, 'openai', { query, chat_id: query })
      const expected = (await whole.json()).choices[0].message.content
      const proxy = await startTcpProxy(system.gateway.url)
      const { client, calls, requests } = await createAsker(proxy.url)
      // The stream that goes on is cut as well, somewhere else.
      proxy.cutAnswers(bytes, 250 + (bytes % 600))
      const pieces: string[] = []
      const resumed: (number | undefined)[] = []
      const stream = client.chat.stream({ query, keep: true })
      stream.on('resumed', ({ lastEventId }) => resumed.push(lastEventId))
      for await (const piece of stream.textStream) pieces.push(piece)
      expect(pieces.join('')).toBe(expected)
      const { callId, usage } = await stream.final()
      expect(usage?.total_tokens).toBeGreaterThan(0)
      // Without an answer there is nothing to go on with, and the request itself is repeated.
      const posts = requests.filter((request) => request === 'POST /chat').length
      expect(requests).toHaveLength(3)
      expect(resumed.length > 0).toBe(requests.length > posts)
      expect(
        requests.slice(posts).every((request) => request.startsWith(`GET /calls/${callId}/stream`)),
      ).toBe(true)
      expect(await calls(1)).toMatchObject([{ outcome: 'done' }])
      // The question was asked twice: once for what to expect.
      expect(turnsOf(query)).toBe(2)
      await proxy.close()
    },
  )

  test.concurrent('before a reply that is no stream: the request is repeated, and runs once', async () => {
    const query = questionOf('Hello')
    const proxy = await startTcpProxy(system.gateway.url)
    const { client, calls, requests } = await createAsker(proxy.url)
    proxy.cutAnswers(0, 200)
    const reply = await client.chat.create({ query, keep: true })
    expect(reply.text).not.toBe('')
    expect(requests).toEqual(['POST /chat', 'POST /chat', 'POST /chat'])
    expect(await calls(1)).toMatchObject([{ outcome: 'done' }])
    expect(turnsOf(query)).toBe(1)
    await proxy.close()
  })

  test.concurrent('and stays cut: the error says how to go on', async () => {
    const query = questionOf(LONG)
    const proxy = await startTcpProxy(system.gateway.url)
    const { client, calls, apiKey } = await createAsker(proxy.url)
    const stream = client.chat.stream({ query, keep: true })
    const pieces: string[] = []
    const failure = await (async () => {
      for await (const piece of stream.textStream) {
        pieces.push(piece)
        if (pieces.length === 3) await proxy.cut()
      }
    })().catch((error) => error)
    expect(failure).toBeInstanceOf(ConnectionError)
    const { callId, lastEventId } = failure as ConnectionError
    const other = new Trunkline({ baseURL: system.gateway.url, apiKey, agent: 'openai' })
    const rest = await other.calls.resume(callId ?? '', { after: lastEventId }).text()
    const { text } = await other.calls.reply(callId ?? '', { wait: true })
    expect(pieces.join('') + rest).toBe(text)
    expect(await calls(1)).toMatchObject([{ outcome: 'done' }])
    expect(turnsOf(query)).toBe(1)
    await proxy.close()
  })
})

describe.concurrent('client.calls', () => {
  test.concurrent('reads a call that another client has left, while it runs and after it', async () => {
    const { client, calls, apiKey } = await createAsker()
    const other = new Trunkline({ baseURL: system.gateway.url, apiKey })
    const idempotencyKey = questionOf('a key with spaces/')
    await firstChunk(client.chat.stream({ query: questionOf(LONG), idempotencyKey }))
    expect(await other.calls.reply({ idempotencyKey })).toMatchObject({ status: 'running' })
    const resumed = other.calls.resume({ idempotencyKey })
    const [text, reply] = await Promise.all([
      resumed.text(),
      other.calls.reply({ idempotencyKey }, { wait: true }),
    ])
    expect(text).toBe(reply.text)
    expect((await resumed.final()).callId).toBe(reply.callId)
    expect(await other.calls.resume(reply.callId ?? '').text()).toBe(text)
    expect(await other.calls.stop({ idempotencyKey })).toEqual({ call_id: reply.callId, outcome: 'done' })
    expect(await calls(1)).toMatchObject([{ outcome: 'done' }])
  })

  test.concurrent('shows the reply of a call to no other API key', async () => {
    const [{ client }, stranger] = await Promise.all([createAsker(), createAsker()])
    const { callId = '' } = await client.chat.create({ query: questionOf('Hello'), keep: true })
    const { calls } = stranger.client
    const answers = await Promise.allSettled([
      calls.reply(callId),
      calls.deleteReply(callId),
      calls.resume(callId).text(),
    ])
    const unknown = { status: 'rejected', reason: { constructor: NotFoundError, reason: 'call_not_found' } }
    expect(answers).toMatchObject([unknown, unknown, unknown])
  })

  test.concurrent('stops a call for all of its readers, once and for ever', async () => {
    const { client, calls, apiKey } = await createAsker()
    const other = new Trunkline({ baseURL: system.gateway.url, apiKey, agent: 'openai' })
    const question = { query: questionOf('sandbox:silence Hello'), idempotencyKey: 'silent' }
    const stream = client.chat.stream(question)
    const reading = stream.text()
    await stream.withResponse()
    const waiting = other.calls.reply({ idempotencyKey: 'silent' }, { wait: true })
    const { call_id } = await other.calls.stop({ idempotencyKey: 'silent' })
    await expect(reading).rejects.toMatchObject({ constructor: StreamFailedError, reason: 'stopped' })
    await expect(waiting).rejects.toMatchObject({ constructor: ConflictError, reason: 'stopped' })
    expect(await calls(1)).toMatchObject([{ outcome: 'client_gone', reason: 'stopped' }])
    expect(await other.calls.stop(call_id)).toEqual({ call_id, outcome: 'client_gone' })
    const again = other.chat.stream(question).text()
    await expect(again).rejects.toMatchObject({ reason: 'stopped', callId: call_id })
    expect(turnsOf(question.query)).toBe(1)
    expect(await calls(1)).toHaveLength(1)
  })

  test.concurrent('deletes a reply, whose key stays in use', async () => {
    const { client, calls } = await createAsker()
    const question = { query: questionOf('Hello'), idempotencyKey: 'deleted' }
    const { callId = '' } = await client.chat.stream(question).final()
    await client.calls.deleteReply({ idempotencyKey: 'deleted' })
    await client.calls.deleteReply(callId)
    const gone = { constructor: GoneError, reason: 'reply_gone' }
    await expect(client.calls.reply(callId)).rejects.toMatchObject(gone)
    await expect(client.calls.resume(callId).text()).rejects.toMatchObject(gone)
    await expect(client.chat.stream(question).text()).rejects.toMatchObject(gone)
    expect(await calls(1)).toHaveLength(1)
    expect(turnsOf(question.query)).toBe(1)
  })
})

test('the same key with another question is refused', async () => {
  const { client } = await createAsker()
  await client.chat.create({ query: questionOf('Hello'), idempotencyKey: 'one' })
  const other = client.chat.create({ query: questionOf('Hello'), idempotencyKey: 'one' })
  await expect(other).rejects.toMatchObject({
    constructor: UnprocessableContentError,
    reason: 'idempotency_mismatch',
  })
})

describe('aborting', () => {
  test('a kept stream stops its call with one request', async () => {
    const { client, calls, requests } = await createAsker()
    const query = questionOf('sandbox:silence Hello')
    const stream = client.chat.stream({ query, keep: true })
    const chunks = stream[Symbol.asyncIterator]()
    await chunks.next()
    const { response } = await stream.withResponse()
    stream.abort()
    stream.abort()
    await expect(chunks.next()).rejects.toMatchObject({ name: 'AbortError' })
    expect(await calls(1)).toMatchObject([{ outcome: 'client_gone', reason: 'stopped' }])
    expect(requests).toEqual(['POST /chat', `POST /calls/${response.headers.get('x-call-id')}/stop`])
    expect(turnsOf(query)).toBe(1)
  })

  test('a kept call whose id is not known yet stops it by its key', async () => {
    const { client, calls, requests } = await createAsker()
    const query = questionOf('sandbox:hang Hello')
    const controller = new AbortController()
    const call = client.chat.create({ query, idempotencyKey: 'named' }, { signal: controller.signal })
    const failure = expect(call).rejects.toMatchObject({ name: 'AbortError' })
    await until('the run has begun', () => turnsOf(query) === 1)
    controller.abort()
    await failure
    expect(await calls(1)).toMatchObject([{ outcome: 'client_gone', reason: 'stopped' }])
    expect(requests).toEqual(['POST /chat', 'POST /calls/key%3Anamed/stop'])
  })
})

describe('the stream of a call that has ended', () => {
  /** The events of a stream, each with its number. */
  async function eventsOf(response: Response): Promise<{ data: string; id: number }[]> {
    expect(response.status).toBe(200)
    const events = (await response.text()).split('\n\n')
    expect(events.pop()).toBe('')
    return events.map((event) => {
      const [, data = '', id] = /^data: (.*)\nid: (\d+)$/.exec(event) ?? []
      return { data, id: Number(id) }
    })
  }

  test.each([
    ['Hello', /^\[DONE\]$/],
    ['sandbox:error-midstream Hello', /"code":"agent_error"/],
  ])('of %j has a number in each event up to its end, and goes on after any', async (words, end) => {
    const asker = await createAsker()
    const idempotencyKey = questionOf('key')
    await asker.client.chat
      .stream({ query: questionOf(words), idempotencyKey })
      .text()
      .catch(() => '')
    const path = `/calls/${encodeURIComponent(`key:${idempotencyKey}`)}/stream`
    const all = await eventsOf(await ask(asker, path))
    expect(all.map(({ id }) => id)).toEqual(all.map((_, index) => index + 1))
    expect(all.at(-1)?.data).toMatch(end)
    for (let after = 0; after <= all.length; after++) {
      const headers = { 'last-event-id': `${after}` }
      expect(await eventsOf(await ask(asker, path, { headers }))).toEqual(all.slice(after))
    }
    expect((await ask(asker, `${path}?after=${all.length + 1}`)).status).toBe(400)
  })
})

describe('a call that has failed', () => {
  test.each([true, false])(
    'of which the platform may have the turn fails in the same way for ever (stream: %s)',
    async (stream) => {
      const asker = await createAsker()
      const query = questionOf('sandbox:error=rate-limit Hello')
      const body = JSON.stringify({
        ...{ app_id: '', chat_id: '', conversation_id: '', files: [], detail: false },
        query,
        stream,
      })
      const headers = { 'content-type': 'application/json', agent: 'openai', 'idempotency-key': 'failed' }
      const first = await ask(asker, '/chat', { method: 'POST', headers, body })
      const again = await ask(asker, '/chat', { method: 'POST', headers, body })
      const reply = await ask(asker, '/calls/key%3Afailed/reply')
      const [{ request_id: _, ...problem }, ...others] = await Promise.all(
        [first, again, reply].map((response) => response.json()),
      )
      // By its reason alone, this failure could be retried.
      expect(problem.reason).toBe('agent_rate_limited')
      for (const other of others) expect(other).toMatchObject(problem)
      const told = [first, again, reply].map((response) => [
        response.status,
        response.headers.get('x-should-retry'),
        response.headers.get('idempotent-replayed'),
      ])
      expect(told).toEqual([
        [429, 'false', null],
        [429, 'false', 'true'],
        [429, 'false', null],
      ])
      const { client, requests } = asker
      const kept = { query, idempotencyKey: 'failed' }
      const call = stream ? client.chat.stream(kept).text() : client.chat.create(kept)
      await expect(call).rejects.toMatchObject({ reason: 'agent_rate_limited' })
      await expect(client.calls.reply({ idempotencyKey: 'failed' })).rejects.toMatchObject({
        reason: 'agent_rate_limited',
      })
      expect(requests).toHaveLength(2)
      const asked = system.sandbox.agents.openai.seen.requests.filter(({ body }) =>
        JSON.stringify(body).includes(query),
      )
      expect(asked).toHaveLength(1)
      expect(await asker.calls(1)).toHaveLength(1)
    },
  )

  test('of which the platform has no turn may be repeated, which is another call', async () => {
    const asker = await createAsker()
    const query = questionOf('sandbox:error=rate-limit Hello')
    // Dify refuses such a call before it takes the question.
    const kept = { agent: 'dify', query, idempotencyKey: 'limited' }
    const failure = await asker.client.chat.create(kept, { maxRetries: 1 }).catch((error) => error)
    expect(failure).toMatchObject({ status: 429, reason: 'agent_rate_limited' })
    expect(failure.headers.get('x-should-retry')).toBe('true')
    expect(await asker.calls(2)).toHaveLength(2)
    // The call itself stays what it is.
    const reply = await ask(asker, `/calls/${failure.headers.get('x-call-id')}/reply`)
    expect([reply.status, reply.headers.get('x-should-retry')]).toEqual([429, 'false'])
  })
})
