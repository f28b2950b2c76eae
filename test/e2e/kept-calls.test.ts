import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CLOSED_PORT } from '../support/free-port.ts'
import { type GatewayWithSandbox, startGatewayWithSandbox } from '../support/gateway-with-sandbox.ts'
import {
  eventsOf,
  failureOf,
  idsOf,
  KEPT_FACES,
  type KeptClient,
  type KeptFace,
  type KeptQuestion,
  keptBody,
  keptClient,
  reasonOf,
  withoutComments,
} from '../support/kept-calls.ts'
import { contentOf, payloadsOf, readerOf } from '../support/stream.ts'
import { until } from '../support/until.ts'

// A process, because a call must go on when its connection closes, and be known as interrupted when the process is killed.

/** Takes about a second. */
const SLOW = 'sandbox:slow=40 sandbox:long=25 Hello'
/** More than a process may have waiting to be stored of one call, on every face. */
const AT_ONCE = 'sandbox:long=7000 Hello'
/** Never ends by itself after its first fragment. */
const SILENT = 'sandbox:silence Hello'

/** The last line of the first event. */
const FIRST = /^id: 1$/m

/** Headers that a repetition has of its own. */
const OWN_HEADERS = ['x-request-id', 'ratelimit', 'ratelimit-policy']

function clientOf({ gateway, key }: GatewayWithSandbox, apiKey = key): KeptClient {
  return keptClient({ url: gateway.url, apiKey })
}

/** What a repetition of a call must repeat. */
async function answerOf(response: Response) {
  const { headers, status } = response
  return {
    status,
    text: withoutComments(await response.text()),
    contentType: headers.get('content-type'),
    callId: headers.get('x-call-id'),
    conversation: headers.get('x-conversation-id'),
  }
}

async function refusalOf(response: Response): Promise<[status: number, reason: string | undefined]> {
  return [response.status, reasonOf(await response.text())]
}

interface Row {
  readonly id: string
  readonly outcome: string | null
  readonly reason: string | null
}

/** The calls of an API key, once all have ended. */
async function rowsOf({ api, token }: GatewayWithSandbox, keyId: string): Promise<readonly Row[]> {
  return until('every call has ended', async () => {
    const { body } = await api.call('GET', `/api/v1/calls?limit=100&key_id=${keyId}`, { token })
    const rows: readonly Row[] = body.data.items
    return rows.every(({ outcome }) => outcome !== null) && rows
  })
}

async function rowOf(system: GatewayWithSandbox, callId: string): Promise<Row> {
  return until('the call has ended', async () => {
    const { body } = await system.api.call('GET', '/api/v1/calls?limit=100', { token: system.token })
    const row = (body.data.items as Row[]).find(({ id }) => id === callId)
    return row?.outcome != null && row
  })
}

function turnsOf({ sandbox }: GatewayWithSandbox, query: string, platform: 'openai' | 'dify' = 'openai') {
  return sandbox.agents[platform].seen.turns({ query })
}

/** An agent that only one test uses, so that neither the breaker nor the rest of a credential reaches another. */
function agentOf(face: KeptFace, stream: boolean, name: string): string {
  return `${face}-${stream ? 'stream' : 'json'}-${name}`
}

function agentsOf(name: string, entry: object): Record<string, object> {
  const ids = KEPT_FACES.flatMap((face) => [agentOf(face, true, name), agentOf(face, false, name)])
  return Object.fromEntries(ids.map((id) => [id, entry]))
}

describe('with the usual settings', () => {
  let system: GatewayWithSandbox
  let client: KeptClient

  beforeAll(async () => {
    system = await startGatewayWithSandbox({
      settings: { conversations: { endUserHeader: 'x-end-user' } },
      agents: ({ openai }) => ({
        ...agentsOf('closed', { ...openai, baseUrl: `http://127.0.0.1:${CLOSED_PORT}/v1` }),
        ...agentsOf('failing', { ...openai, timeouts: { firstByteMs: 300 } }),
      }),
    })
    client = clientOf(system)
  })
  afterAll(() => system?.remove())

  /** Begins a stream and reads its first event. */
  async function begin(face: KeptFace, key: string, question: KeptQuestion) {
    const response = await client.ask(face, key, { ...question, stream: true })
    expect(response.status).toBe(200)
    const reader = readerOf(response)
    await reader.until(FIRST)
    return { reader, callId: response.headers.get('x-call-id') ?? '' }
  }

  describe.each(KEPT_FACES)('%s:', (face) => {
    test.each([
      ['stream', true],
      ['JSON', false],
    ])(
      'a repetition after the end gets the same %s reply, and costs neither a turn nor quota',
      async (_, stream) => {
        const apiKey = await system.api.createKey(system.token)
        const mine = clientOf(system, apiKey.full_key)
        for (const conversation of [randomUUID(), '']) {
          const key = `replay ${randomUUID()}`
          const question = { stream, conversation, query: `Hello ${key}` }
          const first = await mine.ask(face, key, question)
          const original = await answerOf(first)
          expect(original.status).toBe(200)
          expect(first.headers.get('idempotent-replayed')).toBeNull()
          for (const by of [mine.ask(face, key, question), mine.ask(face, key, question)]) {
            const again = await by
            expect(again.headers.get('idempotent-replayed')).toBe('true')
            expect(await answerOf(again)).toEqual(original)
            for (const name of OWN_HEADERS) expect(again.headers.get(name), name).not.toBeNull()
            expect(again.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'))
          }
          expect(turnsOf(system, question.query)).toBe(1)
        }
        expect(await rowsOf(system, apiKey.id)).toHaveLength(2)
        const { body } = await system.api.call('GET', `/api/v1/api-keys/${apiKey.id}`, {
          token: system.token,
        })
        expect(body.data.usage.total_calls).toBe(2)
      },
    )

    test('the events of a kept stream count from 1, and other streams have no numbers', async () => {
      const key = randomUUID()
      const kept = await (await client.ask(face, key, { stream: true })).text()
      const numbers = idsOf(kept)
      expect(numbers.length).toBeGreaterThan(5)
      expect(numbers).toEqual(numbers.map((_, index) => index + 1))
      const ephemeral = await (
        await client.ask(face, undefined, { stream: true, conversation: randomUUID() })
      ).text()
      expect(ephemeral).not.toMatch(/^id:/m)
      const form = (text: string) => withoutComments(text).replaceAll(/^id: \d+\n/gm, '')
      // Ids and times of the two calls differ.
      expect(eventsOf(form(kept)).length).toBe(eventsOf(ephemeral).length)
      if (face !== 'responses') return
      for (const event of eventsOf(kept)) {
        const { id, number } = /"sequence_number":(?<number>\d+).*\nid: (?<id>\d+)/.exec(event)?.groups ?? {}
        expect(Number(number)).toBe(Number(id) - 1)
      }
    })

    test('a reply of 1.3 MB that the platform sends in one go is kept', async () => {
      const [key, query] = [randomUUID(), `${AT_ONCE} ${randomUUID()}`]
      const text = withoutComments(await (await client.ask(face, key, { query, stream: true })).text())
      expect(failureOf(text)).toBeUndefined()
      expect(text.length).toBeGreaterThan(1_300_000)
      const again = await client.ask(face, key, { query, stream: true })
      expect([again.status, withoutComments(await again.text()) === text]).toEqual([200, true])
      expect((await client.reply(`key:${key}`)).status).toBe(200)
    })

    test('who asks the same while it runs is attached, from the first event or from the last that they have', async () => {
      const [key, query] = [randomUUID(), `${SLOW} ${randomUUID()}`]
      const { reader, callId } = await begin(face, key, { query })
      const ask = (headers = {}) => client.ask(face, key, { query, stream: true, headers })
      const [all, rest] = await Promise.all([ask(), ask({ 'last-event-id': '2' })])
      const resumed = await client.resume(callId, { lastEventId: 2 })
      expect(all.headers.get('idempotent-replayed')).toBeNull()
      expect(all.headers.get('x-call-id')).toBe(callId)
      const expected = withoutComments(await reader.rest())
      expect(withoutComments(await all.text())).toBe(expected)
      const afterTwo = eventsOf(expected).slice(2).join('')
      expect(withoutComments(await rest.text())).toBe(afterTwo)
      expect(withoutComments(await resumed.text())).toBe(afterTwo)
      expect(turnsOf(system, query)).toBe(1)
    })

    test('who asks the same for JSON while it runs gets the same reply', async () => {
      const [key, query] = [randomUUID(), `${SLOW} ${randomUUID()}`]
      const ask = () => client.ask(face, key, { query }).then(answerOf)
      const [one, ...others] = await Promise.all([ask(), ask(), ask()])
      expect(one.status).toBe(200)
      for (const other of others) expect(other).toEqual(one)
      expect(turnsOf(system, query)).toBe(1)
    })

    test('the JSON reply of a stream can be read when it has ended', async () => {
      const [key, query] = [randomUUID(), `${SLOW} ${randomUUID()}`]
      const { reader, callId } = await begin(face, key, { query })
      for (const name of [callId, `key:${key}`]) {
        const running = await client.reply(name)
        expect([running.status, running.headers.get('retry-after')]).toEqual([202, '1'])
        expect(await running.json()).toMatchObject({ code: 0, data: { call_id: callId } })
      }
      const stream = await reader.rest()
      const reply = await client.ended(callId)
      expect(reply.headers.get('content-type')).toBe('application/json; charset=utf-8')
      expect(reply.headers.get('x-call-id')).toBe(callId)
      // A call of the same question that requested JSON.
      const json = await client.ask(face, randomUUID(), { query })
      const body = await reply.json()
      expect(Object.keys(body as object)).toEqual(Object.keys((await json.json()) as object))
      if (face !== 'responses') {
        const [choice] = (body as { choices: { message: { content: string } }[] }).choices
        expect(choice?.message.content).toBe(contentOf(stream.replaceAll(/\nid: \d+(?=\n\n)/g, '')))
      }
    })

    test('a call that is stopped before its first event is refused as stopped, and so is its repetition', async () => {
      for (const stream of [false, true]) {
        const [key, query] = [randomUUID(), `sandbox:hang ${randomUUID()}`]
        const { seen } = system.sandbox.agents.openai
        const waiting = client.ask(face, key, { query, stream })
        await seen.waitFor(() => seen.turns({ query }) === 1)
        const attached = client.ask(face, key, { query, stream })
        expect(await client.stop(`key:${key}`)).toMatchObject({ outcome: null })
        for (const answer of [
          await waiting,
          await attached,
          await client.ask(face, key, { query, stream }),
        ]) {
          expect(answer.headers.get('x-should-retry')).toBe('false')
          expect(await refusalOf(answer)).toEqual([409, 'stopped'])
        }
        await seen.waitFor(({ runs }) => runs.find((run) => run.query === query)?.state === 'aborted')
        expect(seen.turns({ query })).toBe(1)
        expect(await refusalOf(await client.reply(`key:${key}`))).toEqual([409, 'stopped'])
      }
    })

    test('a stream that is stopped in the middle ends with a frame for every reader', async () => {
      const [key, query] = [randomUUID(), `${SILENT} ${randomUUID()}`]
      const { reader, callId } = await begin(face, key, { query })
      const other = await client.resume(callId)
      expect(await client.stop(callId)).toEqual({ call_id: callId, outcome: null })
      const text = withoutComments(await reader.rest())
      expect(failureOf(text)).toBe('stopped')
      expect(text).not.toContain('[DONE]')
      expect(idsOf(text)).toEqual(idsOf(text).map((_, index) => index + 1))
      expect(withoutComments(await other.text())).toBe(text)
      expect(await client.stop(callId)).toEqual({ call_id: callId, outcome: 'client_gone' })
      expect(await rowOf(system, callId)).toMatchObject({ outcome: 'client_gone', reason: 'stopped' })
      const again = await client.ask(face, key, { query, stream: true })
      expect([again.status, withoutComments(await again.text())]).toEqual([200, text])
      expect(turnsOf(system, query)).toBe(1)
    })

    test.each([
      // What OpenAI's clients would send again by themselves if the call had no key.
      ['sandbox:error=rate-limit', 429, 'agent_rate_limited', 0],
      ['sandbox:hang', 504, 'agent_timeout', 1],
    ])(
      'a failure that may have left a turn is repeated with the advice not to retry: %s',
      async (word, ...ended) => {
        const [status, reason, turns] = ended
        for (const stream of [false, true]) {
          const agent = agentOf(face, stream, 'failing')
          const key = randomUUID()
          const question = { agent, query: `${word} ${key}`, stream }
          const first = await client.ask(face, key, question)
          const again = await client.ask(face, key, question)
          expect(again.headers.get('idempotent-replayed')).toBe('true')
          expect(again.headers.get('x-should-retry')).toBe('false')
          expect(again.headers.get('x-call-id')).toBe(first.headers.get('x-call-id'))
          expect(await refusalOf(first)).toEqual([status, reason])
          expect(await refusalOf(again)).toEqual([status, reason])
          expect(turnsOf(system, question.query)).toBe(turns)
          const sent = system.sandbox.agents.openai.seen.requests
          expect(sent.filter(({ body }) => JSON.stringify(body).includes(key))).toHaveLength(1)
        }
      },
    )

    test('a failure in the middle of a stream is repeated as it was', async () => {
      const key = randomUUID()
      const question = {
        agent: agentOf(face, true, 'failing'),
        query: `sandbox:error-midstream Hello ${key}`,
        stream: true,
      }
      const original = await answerOf(await client.ask(face, key, question))
      expect([original.status, failureOf(original.text)]).toEqual([200, 'agent_error'])
      expect(await answerOf(await client.ask(face, key, question))).toEqual(original)
      expect(turnsOf(system, question.query)).toBe(1)
    })

    test('a key is free again after a call that has left no turn', async () => {
      for (const stream of [false, true]) {
        const key = randomUUID()
        const refused = await client.ask(face, key, {
          agent: agentOf(face, stream, 'closed'),
          stream,
        })
        expect(await refusalOf(refused)).toEqual([502, 'agent_unreachable'])
        const query = `Hello ${key}`
        const next = await client.ask(face, key, { query, stream })
        expect([next.status, next.headers.get('idempotent-replayed')]).toEqual([200, null])
        await next.text()
        expect(turnsOf(system, query)).toBe(1)
      }
    })

    test('an invalid key is refused by its name', async () => {
      for (const key of ['', 'x'.repeat(256), 'café', 'a\tb']) {
        const response = await client.ask(face, key)
        const text = await response.text()
        expect([response.status, reasonOf(text)]).toEqual([400, 'invalid_request'])
        expect(text).toContain('Idempotency-Key')
      }
      expect((await client.ask(face, face.padEnd(255, ' ~'))).status).toBe(200)
    })

    test('the same key with another request is refused', async () => {
      const key = randomUUID()
      const conversation = randomUUID()
      const question = { conversation, headers: { 'x-end-user': 'ann' } }
      const first = await answerOf(await client.ask(face, key, question))
      const others: Record<string, KeptQuestion> = {
        body: { ...question, query: 'Hello?' },
        stream: { ...question, stream: true },
        agent: { ...question, agent: 'dify' },
        conversation: { ...question, conversation: randomUUID() },
        'no conversation': { ...question, conversation: '' },
      }
      for (const [what, other] of Object.entries(others)) {
        expect(await refusalOf(await client.ask(face, key, other)), what).toEqual([
          422,
          'idempotency_mismatch',
        ])
      }
      const [another] = KEPT_FACES.filter((each) => each !== face)
      expect(await refusalOf(await client.ask(another ?? 'chat', key, question))).toEqual([
        ...[422, 'idempotency_mismatch'],
      ])
      const reversed = Object.entries(keptBody(face, question)).reverse()
      const text = JSON.stringify(Object.fromEntries(reversed), null, 2)
      expect(await answerOf(await client.ask(face, key, { ...question, text }))).toEqual(first)
      // Keys of other callers are other keys.
      const neighbour = clientOf(system, (await system.api.createKey(system.token)).full_key)
      expect((await neighbour.ask(face, key, { ...question, query: 'Hello?' })).status).toBe(200)
      // So are those of other end users.
      const bobs = { ...question, headers: { 'x-end-user': 'bob' }, query: 'Hello?' }
      expect((await client.ask(face, key, bobs)).headers.get('idempotent-replayed')).toBeNull()
      expect((await client.ask(face, key, bobs)).headers.get('idempotent-replayed')).toBe('true')
    })
  })

  test('GET …/stream begins after the event that the client has, and refuses what is none', async () => {
    const key = randomUUID()
    const response = await client.ask('chat', key, { stream: true })
    const callId = response.headers.get('x-call-id') ?? ''
    const events = eventsOf(await response.text())
    for (const name of [callId, callId.toUpperCase(), `key:${key}`]) {
      for (const after of [0, 1, events.length - 1, events.length]) {
        const expected = events.slice(after).join('')
        expect(await (await client.resume(name, { after })).text()).toBe(expected)
        const resumed = await client.resume(name, { lastEventId: after, after: 1 })
        expect(resumed.status).toBe(200)
        expect(resumed.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
        expect(resumed.headers.get('x-call-id')).toBe(callId)
        expect(await resumed.text()).toBe(expected)
      }
    }
    expect(await (await client.resume(callId)).text()).toBe(events.join(''))
    for (const wrong of ['x', '-1', '1.5', '99999999999', String(events.length + 1)]) {
      expect(await refusalOf(await client.resume(callId, { after: wrong })), wrong).toEqual([
        ...[400, 'invalid_request'],
      ])
      expect(await refusalOf(await client.resume(callId, { lastEventId: wrong })), wrong).toEqual([
        ...[400, 'invalid_request'],
      ])
    }
    const cursor = { stream: true, headers: { 'last-event-id': String(events.length + 1) } }
    expect(await refusalOf(await client.ask('chat', key, cursor))).toEqual([400, 'invalid_request'])
  })

  test('only the key that made a kept call finds it', async () => {
    const key = randomUUID()
    const response = await client.ask('chat', key, { stream: true })
    const callId = response.headers.get('x-call-id') ?? ''
    await response.text()
    const ephemeral = await client.ask('chat', undefined)
    await ephemeral.text()
    const sameOwner = clientOf(system, (await system.api.createKey(system.token)).full_key)
    const unknown: [KeptClient, string][] = [
      [sameOwner, callId],
      [sameOwner, `key:${key}`],
      [client, randomUUID()],
      [client, 'x'],
      [client, 'key:'],
      [client, ephemeral.headers.get('x-call-id') ?? ''],
    ]
    for (const [by, name] of unknown) {
      expect(await refusalOf(await by.resume(name))).toEqual([404, 'call_not_found'])
      expect(await refusalOf(await by.reply(name))).toEqual([404, 'call_not_found'])
      expect(await refusalOf(await by.remove(name))).toEqual([404, 'call_not_found'])
    }
    // By its id, a key of the same owner may stop every call.
    for (const [by, name] of unknown.slice(1, -1))
      await expect(by.stop(name)).rejects.toThrow('call_not_found')
    expect((await sameOwner.stop(callId)).outcome).toBe('done')
    expect(await refusalOf(await clientOf(system, system.token).reply(callId))).toEqual([
      ...[401, 'api_key_required'],
    ])
    expect((await client.reply(callId)).status).toBe(200)
  })

  test('a kept call that was asked for as JSON has no stream', async () => {
    const response = await client.ask('chat', randomUUID())
    const text = await response.text()
    const callId = response.headers.get('x-call-id') ?? ''
    expect(await refusalOf(await client.resume(callId))).toEqual([400, 'invalid_request'])
    expect(await (await client.reply(callId)).text()).toBe(text)
  })

  test('a reply that was deleted is gone, also for who asks the same again', async () => {
    const [key, query] = [randomUUID(), `Hello ${randomUUID()}`]
    const response = await client.ask('chat', key, { query, stream: true })
    const callId = response.headers.get('x-call-id') ?? ''
    await response.text()
    for (let time = 0; time < 2; time += 1) expect((await client.remove(callId)).status).toBe(200)
    expect(await refusalOf(await client.resume(callId))).toEqual([410, 'reply_gone'])
    expect(await refusalOf(await client.reply(callId))).toEqual([410, 'reply_gone'])
    expect(await refusalOf(await client.ask('chat', key, { query, stream: true }))).toEqual([
      ...[410, 'reply_gone'],
    ])
    expect(await client.stop(callId)).toEqual({ call_id: callId, outcome: 'done' })
    expect(turnsOf(system, query)).toBe(1)
  })

  test('a stop after the end of a kept call changes nothing', async () => {
    const key = randomUUID()
    const original = await answerOf(await client.ask('chat', key, { stream: true }))
    for (let time = 0; time < 2; time += 1) {
      expect(await client.stop(`key:${key}`)).toEqual({ call_id: original.callId, outcome: 'done' })
    }
    expect(await answerOf(await client.ask('chat', key, { stream: true }))).toEqual(original)
  })

  test('to leave a kept call is not to stop it', async () => {
    const [key, query] = [randomUUID(), `${SLOW} ${randomUUID()}`]
    const leave = new AbortController()
    const response = await client.ask('chat', key, { query, stream: true, signal: leave.signal })
    await readerOf(response).until(FIRST)
    leave.abort()
    const callId = response.headers.get('x-call-id') ?? ''
    expect((await client.ended(callId)).status).toBe(200)
    expect(await rowOf(system, callId)).toMatchObject({ outcome: 'done' })
    const text = await (await client.resume(callId)).text()
    expect(payloadsOf(text).at(-1)).toMatch(/^\[DONE\]/)
    expect(contentOf(text.replaceAll(/\nid: \d+(?=\n\n)/g, ''))).toMatch(/^1 .*25 /s)

    const json = new AbortController()
    const [jsonKey, jsonQuery] = [randomUUID(), `${SLOW} ${randomUUID()}`]
    const left = client.ask('chat', jsonKey, { query: jsonQuery, signal: json.signal })
    const { seen } = system.sandbox.agents.openai
    await seen.waitFor(() => seen.turns({ query: jsonQuery }) === 1)
    json.abort()
    await expect(left).rejects.toThrow('aborted')
    const again = await client.ask('chat', jsonKey, { query: jsonQuery })
    expect(again.status).toBe(200)
    expect(await again.text()).toContain('25 ')
    expect(turnsOf(system, jsonQuery)).toBe(1)
  })

  test('a key that is revoked replays nothing, and its readers end', async () => {
    const { id, full_key: apiKey } = await system.api.createKey(system.token)
    const mine = clientOf(system, apiKey)
    const [ended, running] = [randomUUID(), randomUUID()]
    await (await mine.ask('chat', ended)).text()
    const first = readerOf(await mine.ask('chat', running, { query: SILENT, stream: true }))
    await first.until(FIRST)
    const second = readerOf(await mine.resume(`key:${running}`))
    await second.until(FIRST)
    await system.api.call('POST', `/api/v1/api-keys/${id}/revoke`, { token: system.token })
    for (const reader of [first, second]) expect(failureOf(await reader.rest())).toBe('key_revoked')
    expect(await refusalOf(await mine.ask('chat', ended))).toEqual([401, 'key_revoked'])
    expect(await refusalOf(await mine.reply(`key:${ended}`))).toEqual([401, 'key_revoked'])
    expect(await refusalOf(await mine.resume(`key:${running}`))).toEqual([401, 'key_revoked'])
    expect((await rowsOf(system, id)).map(({ outcome }) => outcome).sort()).toHaveLength(2)
  })

  test('the ledger has each call once, and counts how often it was repeated', async () => {
    const key = randomUUID()
    const { callId } = await answerOf(await client.ask('chat', key))
    for (let time = 0; time < 3; time += 1) await (await client.ask('chat', key)).text()
    await system.gateway.stop()
    const counted = await system.gateway.query<{ replays: number }>(
      'SELECT replays::int FROM calls WHERE id = $1',
      [callId],
    )
    expect(counted).toEqual([{ replays: 3 }])
  })
})

describe('with narrow bounds', () => {
  const GRACE_MS = 1_500
  const BYTES_MAX = 20_000
  let system: GatewayWithSandbox
  let client: KeptClient

  beforeAll(async () => {
    system = await startGatewayWithSandbox({
      settings: { replies: { graceMs: GRACE_MS, bytesMax: BYTES_MAX } },
    })
    client = clientOf(system)
  })
  afterAll(() => system?.remove())

  test('a call that nobody reads is stopped at the platform, and one that is read is not', async () => {
    const { seen } = system.sandbox.agents.openai
    const stateOf = (query: string) => seen.runs.find((run) => run.query === query)?.state
    const begin = async (query: string) => {
      const leave = new AbortController()
      const response = await client.ask('chat', query, { query, stream: true, signal: leave.signal })
      await readerOf(response).until(FIRST)
      return { leave: () => leave.abort(), callId: response.headers.get('x-call-id') ?? '' }
    }
    const read = await begin(`${SILENT} read`)
    const reader = await client.resume(read.callId)
    const unread = await begin(`${SILENT} unread`)
    read.leave()
    unread.leave()
    await seen.waitFor(() => stateOf(`${SILENT} unread`) === 'aborted')
    expect(await rowOf(system, unread.callId)).toMatchObject({ outcome: 'client_gone' })
    // The other has had no other reader for as long.
    expect(stateOf(`${SILENT} read`)).toBe('running')
    await client.stop(read.callId)
    expect(failureOf(await reader.text())).toBe('stopped')

    const asked = { query: `${SILENT} unread`, stream: true }
    const repeated = await (await client.ask('chat', `${SILENT} unread`, asked)).text()
    expect(failureOf(repeated)).toBe('stopped')
    expect(seen.turns({ query: `${SILENT} unread` })).toBe(1)
  })

  test('asking for the reply of a call keeps it running', async () => {
    const { seen } = system.sandbox.agents.openai
    const query = `sandbox:slow=40 sandbox:long=100 ${randomUUID()}`
    const leave = new AbortController()
    const asked = client.ask('chat', query, { query, signal: leave.signal })
    await seen.waitFor(() => seen.turns({ query }) === 1)
    leave.abort()
    await expect(asked).rejects.toThrow('aborted')
    const reply = await client.ended(`key:${query}`)
    expect([reply.status, await reply.text()]).toEqual([200, expect.stringContaining('100 ')])
  })

  test.each(KEPT_FACES)(
    '%s: a reply that is too large to be kept reaches who reads it, and is gone then',
    async (face) => {
      const [key, query] = [randomUUID(), `sandbox:slow=2 sandbox:long=400 ${randomUUID()}`]
      const response = await client.ask(face, key, { query, stream: true })
      const callId = response.headers.get('x-call-id') ?? ''
      const text = await response.text()
      expect(text.length).toBeGreaterThan(BYTES_MAX)
      expect(text).toContain('400 ')
      expect(idsOf(text)).toEqual(idsOf(text).map((_, index) => index + 1))
      expect(failureOf(text)).toBeUndefined()
      expect(await refusalOf(await client.resume(callId))).toEqual([410, 'reply_gone'])
      expect(await refusalOf(await client.reply(callId))).toEqual([410, 'reply_gone'])
      expect(await refusalOf(await client.ask(face, key, { query, stream: true }))).toEqual([
        ...[410, 'reply_gone'],
      ])
      expect(turnsOf(system, query)).toBe(1)
    },
  )
})

test('a gateway that keeps no replies refuses kept calls, and takes all others', async () => {
  const system = await startGatewayWithSandbox({ settings: { replies: { enabled: false } } })
  try {
    const client = clientOf(system)
    for (const face of KEPT_FACES) {
      const refused = await client.ask(face, randomUUID())
      const text = await refused.text()
      expect([refused.status, reasonOf(text)]).toEqual([400, 'invalid_request'])
      expect(text).toContain('Idempotency-Key')
      expect((await client.ask(face, undefined)).status).toBe(200)
    }
    expect(system.sandbox.agents.openai.seen.turns()).toBe(KEPT_FACES.length)
  } finally {
    await system.remove()
  }
})

describe('a gateway that is killed', () => {
  let system: GatewayWithSandbox

  beforeAll(async () => {
    // On a database server the next process waits until the lease of the dead one has expired.
    system = await startGatewayWithSandbox({ settings: { instance: { leaseMs: 600 } } })
  })
  afterAll(() => system?.remove())

  test('has stored all but the last moment of a stream, and says that it was interrupted', async () => {
    const query = 'sandbox:slow=40 sandbox:long=200 Hello'
    const response = await clientOf(system).ask('chat', 'killed', { query, stream: true })
    const received = await readerOf(response).until(/^id: 40$/m)
    await system.gateway.kill()
    await system.gateway.start()

    const client = clientOf(system)
    const events = eventsOf(await (await client.resume('key:killed')).text())
    expect(failureOf(events.at(-1) ?? '')).toBe('interrupted')
    const stored = events.slice(0, -1)
    // Parts are stored four times a second, and a busy machine is given a second.
    expect(stored.length).toBeGreaterThan(10)
    const prefix = stored.slice(0, 40).join('')
    expect(withoutComments(received).startsWith(prefix)).toBe(true)
    expect(await refusalOf(await client.reply('key:killed'))).toEqual([502, 'interrupted'])
    const again = await client.ask('chat', 'killed', { query, stream: true })
    expect(eventsOf(await again.text())).toEqual(events)
    expect(turnsOf(system, query)).toBe(1)
  })
})
