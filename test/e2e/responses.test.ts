import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Api, apiOf } from '../support/api.ts'
import type { TestGateway } from '../support/gateway.ts'
import { type GatewayWithSandbox, startGatewayWithSandbox } from '../support/gateway-with-sandbox.ts'
import { type Replicas, startReplicas } from '../support/replicas.ts'
import { readerOf } from '../support/stream.ts'
import { until } from '../support/until.ts'

// A process, because a response is continued over several connections, and replicas on one database must agree on it.

/** Sends a request of the Responses API and returns its reply as JSON. */
function respond(api: Api, key: string, body: object, headers: Record<string, string> = {}) {
  return api.call('POST', '/api/v1/responses', { token: key, headers, body: { input: 'Hello', ...body } })
}

const errorOf = ({ status, body }: Awaited<ReturnType<typeof respond>>) => [
  status,
  body.error?.code,
  body.error?.param,
]

describe('with one gateway', () => {
  let system: GatewayWithSandbox

  beforeAll(async () => {
    system = await startGatewayWithSandbox()
  })
  afterAll(() => system?.remove())

  const newKey = async (more: object = {}) =>
    (await system.api.createKey(system.token, more as Record<string, unknown>)).full_key
  const rowOf = (responseId: string) =>
    until('the call has ended', async () => {
      const id = responseId.replace('resp_', '')
      const { body } = await system.api.call('GET', '/api/v1/calls?limit=100', { token: system.token })
      const row = body.data.items.find((call: { id: string }) => call.id === id)
      return row?.outcome != null && row
    })

  test.each(['dify', 'openai'])(
    '%s: every name of a conversation leads to the same one, and two of them that disagree are refused',
    async (model) => {
      const first = await respond(system.api, system.key, { model, input: 'My name is Ada.' })
      const { id, output, conversation } = first.body
      expect(first.headers.get('x-conversation-id')).toBe(conversation.id)
      const reference = [
        { type: 'item_reference', id: output[0].id },
        { role: 'user', content: 'And now?' },
      ]
      let previous = id
      const next = async (body: object, headers = {}) => {
        const answer = await respond(system.api, system.key, { model, ...body }, headers)
        expect(answer.status, JSON.stringify(answer.body)).toBe(200)
        expect(answer.body.conversation).toEqual(conversation)
        previous = answer.body.id
        return answer.body.output.at(-1).content[0].text
      }
      expect(await next({ input: reference })).toContain('turn 2')
      expect(await next({ previous_response_id: previous })).toContain('turn 3')
      expect(await next({ conversation: conversation.id })).toContain('turn 4')
      expect(await next({ conversation })).toContain('turn 5')
      expect(await next({}, { 'x-conversation-id': conversation.id })).toContain('turn 6')
      expect(await next({ metadata: { conversation_id: conversation.id } })).toContain('turn 7')

      const refusal = async (body: object, headers = {}) =>
        errorOf(await respond(system.api, system.key, { model, ...body }, headers))
      const notFound = [400, 'previous_response_not_found', 'previous_response_id']
      expect(await refusal({ previous_response_id: id })).toEqual(notFound)
      expect(await refusal({ previous_response_id: previous, user: 'bob' })).toEqual(notFound)
      expect(await refusal({ previous_response_id: previous, model: 'hiagent' })).toEqual(notFound)
      expect(await refusal({ input: reference })).toEqual([400, 'previous_response_not_found', 'input[0].id'])
      const { body: other } = await respond(system.api, system.key, { model })
      expect(await refusal({ input: reference, previous_response_id: other.id })).toEqual([
        ...[400, 'previous_response_not_found', 'input[0].id'],
      ])
      expect(await refusal({ previous_response_id: previous }, { 'x-conversation-id': 'other' })).toEqual([
        ...[400, 'invalid_request', 'previous_response_id'],
      ])
      expect(await refusal({ conversation: 'other' }, { 'x-conversation-id': conversation.id })).toEqual([
        ...[400, 'invalid_request', 'conversation'],
      ])
      const { id: ownerId } = await system.api.createUser(system.token, `neighbour-${model}`, {
        role: 'premium',
      })
      const neighbour = await newKey({ owner_id: ownerId })
      const foreign = { model, previous_response_id: previous }
      expect(errorOf(await respond(system.api, neighbour, foreign))).toEqual(notFound)
    },
  )

  test('nothing is kept of what is not to be stored, and a failed response has no next one', async () => {
    const model = 'openai'
    const unkept = await respond(system.api, system.key, { model, store: false })
    expect(unkept.body).toMatchObject({ store: false, status: 'completed' })
    const next = (previous_response_id: string) =>
      respond(system.api, system.key, { model, previous_response_id }).then(errorOf)
    const notFound = [400, 'previous_response_not_found', 'previous_response_id']
    expect(await next(unkept.body.id)).toEqual(notFound)
    const named = { model, conversation: unkept.body.conversation.id }
    const { body } = await respond(system.api, system.key, named)
    expect(body.output[0].content[0].text).not.toContain('turn 2')

    const failed = await respond(system.api, system.key, { model, input: 'sandbox:error=rate-limit Hello' })
    expect(failed.status).toBe(429)
    const callId = failed.headers.get('x-call-id') ?? ''
    expect(await rowOf(callId)).toMatchObject({ face: 'responses', outcome: 'rejected' })
    expect(await next(`resp_${callId}`)).toEqual(notFound)
  })

  test.each(['fastgpt', 'dify', 'openai'])(
    '%s: of several that continue one response at once, one is answered',
    async (agent) => {
      const model = agent === 'fastgpt' ? 'fastgpt/app-1' : agent
      for (let round = 0; round < 4; round += 1) {
        const { id } = (await respond(system.api, system.key, { model })).body
        const next = () => respond(system.api, system.key, { model, previous_response_id: id })
        const statuses = (await Promise.all([next(), next(), next()])).map(({ status }) => status)
        expect(statuses.filter((status) => status === 200)).toHaveLength(1)
      }
    },
  )

  test('a response that still runs is not continued', async () => {
    const stop = new AbortController()
    const response = await fetch(`${system.gateway.url}/api/v1/responses`, {
      method: 'POST',
      headers: { authorization: `Bearer ${system.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'dify', input: 'sandbox:silence Hello', stream: true }),
      signal: stop.signal,
    })
    const begin = await readerOf(response).until(/output_text\.delta/)
    const previous_response_id = /"id":"(resp_[^"]+)"/.exec(begin)?.[1] ?? ''
    const next = await respond(system.api, system.key, { model: 'dify', previous_response_id })
    expect(errorOf(next)).toEqual([409, 'conversation_busy', null])
    stop.abort()
  })

  test('the failed turn of a response can be repeated at once', async () => {
    const model = 'openai'
    const { id } = (await respond(system.api, system.key, { model })).body
    const next = (input: string) =>
      respond(system.api, system.key, { model, input, previous_response_id: id })
    for (const fault of ['error-midstream', 'error=rate-limit', 'truncate']) {
      expect((await next(`sandbox:${fault} Hello`)).status).toBeGreaterThanOrEqual(400)
    }
    expect((await next('Hello')).status).toBe(200)
  })

  test('a response that is refused before its call is not counted', async () => {
    const { id, full_key: key } = await system.api.createKey(system.token)
    for (const body of [
      { model: 'dify', tools: [{ type: 'function', name: 'f', parameters: {} }] },
      { model: 'dify', text: { format: { type: 'json_object' } } },
      { model: 'dify', background: true },
      {
        model: 'dify',
        input: [
          { role: 'user', content: 'Hello' },
          { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
        ],
      },
      { model: 'dify', previous_response_id: 'resp_none' },
      { model: 'openai', input: [{ type: 'function_call_output', call_id: 'c', output: '1' }] },
    ]) {
      expect((await respond(system.api, key, body)).status).toBe(400)
    }
    const { body } = await system.api.call('GET', `/api/v1/api-keys/${id}`, { token: system.token })
    expect(body.data.calls_total ?? body.data.usage?.calls ?? 0).toBe(0)
    const calls = await system.api.call('GET', `/api/v1/calls?key_id=${id}`, { token: system.token })
    expect(calls.body.data.items).toEqual([])
  })

  test('a client that leaves stops the run, and a stream that fails midway says so twice and has no [DONE]', async () => {
    const { seen } = system.sandbox.agents.openai
    const leave = new AbortController()
    const send = (input: string, signal?: AbortSignal) =>
      fetch(`${system.gateway.url}/api/v1/responses`, {
        method: 'POST',
        headers: { authorization: `Bearer ${system.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'openai', input, stream: true }),
        ...(signal !== undefined && { signal }),
      })
    const response = await send('sandbox:slow=20 sandbox:long Hello', leave.signal)
    const begin = await readerOf(response).until(/output_text\.delta/)
    leave.abort()
    await seen.waitFor(({ runs }) => runs.at(-1)?.state === 'aborted')
    const id = /"id":"(resp_[^"]+)"/.exec(begin)?.[1] ?? ''
    expect(await rowOf(id)).toMatchObject({ face: 'responses', outcome: 'client_gone' })

    const failed = await (await send('sandbox:error-midstream Hello')).text()
    expect(failed).toMatch(/event: error\ndata: .*\n\nevent: response\.failed\ndata: .*\n\n$/)
    expect(failed).not.toContain('[DONE]')
  })
})

const server = process.env.E2E_DATABASE_URL ?? ''

describe.skipIf(server === '')('with two replicas', () => {
  let replicas: Replicas

  beforeAll(async () => {
    replicas = await startReplicas(server, [{}, {}])
  })
  afterAll(() => replicas?.remove())

  test('a response is continued at the other replica at once', async () => {
    const [first, second] = replicas.gateways.map((gateway: TestGateway) => apiOf(gateway)) as [Api, Api]
    const token = await first.login()
    const { full_key: key } = await first.createKey(token)
    let previous: { id: string; conversation: object } | undefined
    for (const api of [first, second, first, second, first, second]) {
      const body = { model: 'counting', ...(previous && { previous_response_id: previous.id }) }
      const answer = await respond(api, key, body)
      expect(answer.status, JSON.stringify(answer.body)).toBe(200)
      if (previous !== undefined) expect(answer.body.conversation).toEqual(previous.conversation)
      previous = answer.body
    }
  })
})
