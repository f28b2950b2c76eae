import { randomUUID } from 'node:crypto'
import { type Sandbox, startSandbox } from '@trunkline/sandbox'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Api, apiOf } from '../support/api.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'

// A process, because a pause must be answered after a kill -9, by whatever process is there then.

const AGENTS = ['fastgpt', 'hiagent', 'chatflow', 'workflow'] as const
type Agent = (typeof AGENTS)[number]
const FACES = ['rest', 'openai', 'responses', 'graphql'] as const
type Face = (typeof FACES)[number]
const MODES = ['json', 'stream', 'kept'] as const
type Mode = (typeof MODES)[number]

let sandbox: Sandbox
let gateway: TestGateway
let api: Api
let key: string

beforeAll(async () => {
  sandbox = await startSandbox({ delayMs: 0 })
  const { fastgpt, hiagent, dify } = sandbox.agents
  const agents = {
    fastgpt: {
      platform: 'fastgpt',
      baseUrl: fastgpt.baseUrl,
      apiKey: fastgpt.apiKey,
      apps: { 'app-1': {} },
    },
    hiagent: { platform: 'hiagent', baseUrl: hiagent.baseUrl, apiKey: hiagent.apiKey },
    chatflow: { platform: 'dify', baseUrl: dify.baseUrl, apiKey: dify.keys.chatflow2026 },
    workflow: { platform: 'dify', mode: 'workflow', baseUrl: dify.baseUrl, apiKey: dify.keys.workflow },
  }
  const plenty = { points: 100_000 }
  gateway = await startGateway({
    config: JSON.stringify({ limits: { chat: plenty, calls: plenty, login: plenty }, agents }),
    isOnDisk: true,
  })
  api = apiOf(gateway)
  key = (await api.createKey(await api.login())).full_key
})
afterAll(async () => {
  await gateway?.remove()
  await sandbox?.close()
})

/** What a client keeps of a reply. */
interface Told {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: as the client has parsed it
  readonly body: any
  readonly text: string
  readonly conversation: string
  readonly id: string
  // biome-ignore lint/suspicious/noExplicitAny: as the client has parsed it
  readonly pause: any
}

interface Message {
  readonly query: string
  readonly conversation?: string
  /** The id of the response before, which the Responses API continues. */
  readonly previous?: string
  readonly answer?: object
  readonly user?: string
  readonly idempotencyKey?: string
  readonly key?: string
}

async function send(agent: Agent, face: Face, mode: Mode, message: Message): Promise<Told> {
  const { conversation = '', answer, query, user } = message
  const stream = mode !== 'json'
  const headers: Record<string, string> = {
    authorization: `Bearer ${message.key ?? key}`,
    'content-type': 'application/json',
    ...(mode === 'kept' &&
      face !== 'graphql' && { 'idempotency-key': message.idempotencyKey ?? randomUUID() }),
  }
  const post = (path: string, body: object, more: Record<string, string> = {}) =>
    fetch(gateway.url + path, {
      method: 'POST',
      headers: { ...headers, ...more },
      body: JSON.stringify({
        ...body,
        ...(answer !== undefined && { answer }),
        ...(user !== undefined && { user }),
      }),
    })
  const named: Record<string, string> = conversation === '' ? {} : { 'x-conversation-id': conversation }
  switch (face) {
    case 'rest':
      return readChunks(
        await post(
          '/api/v1/chat',
          {
            ...{ app_id: '', chat_id: conversation, conversation_id: conversation || `c-${randomUUID()}` },
            ...{ stream, detail: false, query, files: [] },
          },
          { agent },
        ),
      )
    case 'openai':
      return readChunks(
        await post(
          '/api/v1/chat/completions',
          { model: agent, stream, messages: [{ role: 'user', content: query }] },
          named,
        ),
      )
    case 'responses': {
      const { previous } = message
      return readResponse(
        await post(
          '/api/v1/responses',
          {
            model: agent,
            stream,
            input: query,
            ...(previous !== undefined && { previous_response_id: previous }),
          },
          previous === undefined ? named : {},
        ),
      )
    }
    case 'graphql':
      return readGraphql(
        await fetch(`${gateway.url}/graphql`, {
          method: 'POST',
          headers,
          body: JSON.stringify({
            query: `mutation ($input: ChatInput!) { chat(input: $input) { callId conversationId text
              pause { id question options { id title } fields { name type required } expiresAt } } }`,
            variables: {
              input: {
                ...{ agentId: agent, query, conversationId: conversation || null, answer: answer ?? null },
                ...(agent === 'hiagent' && conversation === '' && { conversationId: `c-${randomUUID()}` }),
                ...(user !== undefined && { endUser: user }),
                ...(mode === 'kept' && { idempotencyKey: message.idempotencyKey ?? randomUUID() }),
              },
            },
          }),
        }),
      )
  }
}

const framesOf = (text: string) =>
  text
    .split('\n\n')
    .flatMap((event) => /^data: (.*)$/m.exec(event)?.[1] ?? [])
    .filter((data) => data !== '[DONE]')
    .map((data) => JSON.parse(data))

async function readChunks(response: Response): Promise<Told> {
  const { status, headers } = response
  const conversation = headers.get('x-conversation-id') ?? ''
  if (headers.get('content-type')?.includes('json')) {
    const body = JSON.parse(await response.text())
    return {
      ...{ status, body, conversation, id: body.id, pause: body.pause },
      text: body.choices?.[0]?.message.content ?? '',
    }
  }
  const chunks = framesOf(await response.text())
  const last = chunks.find(({ choices }) => choices?.[0]?.finish_reason != null)
  const text = chunks.map(({ choices }) => choices?.[0]?.delta?.content ?? '').join('')
  return { status, body: chunks.at(-1), conversation, id: chunks[0]?.id, pause: last?.pause, text }
}

async function readResponse(response: Response): Promise<Told> {
  const { status, headers } = response
  const text = await response.text()
  const isJson = headers.get('content-type')?.includes('json') === true
  const body = isJson ? JSON.parse(text) : framesOf(text).at(-1)?.response
  return {
    ...{ status, body, id: body?.id, pause: body?.pause },
    conversation: headers.get('x-conversation-id') ?? '',
    text: (body?.output ?? [])
      .flatMap(({ content = [] }: { content?: { text: string }[] }) => content.map((part) => part.text))
      .join(''),
  }
}

async function readGraphql(response: Response): Promise<Told> {
  const { data, errors } = JSON.parse(await response.text())
  const reply = data?.chat
  return {
    status: errors?.[0]?.extensions.status ?? 200,
    body: errors?.[0]?.extensions ?? reply,
    text: reply?.text ?? '',
    conversation: reply?.conversationId ?? '',
    id: reply?.callId,
    pause: reply?.pause ?? undefined,
  }
}

const platformOf = (agent: Agent) =>
  agent === 'chatflow' || agent === 'workflow' ? 'dify' : (agent satisfies 'fastgpt' | 'hiagent')
const runsOf = (agent: Agent, mark: string) =>
  sandbox.agents[platformOf(agent)].seen.runs.filter(({ query }) => query.includes(mark))

/** The option that is chosen, and how the rest of the run shows that it was. */
const CHOICES: Readonly<Record<Agent, string>> = {
  fastgpt: '确认',
  hiagent: 'the blue one',
  chatflow: 'Approve',
  workflow: 'approve',
}

describe('a question is answered after a kill -9, by the process that is there then', () => {
  const cases = AGENTS.flatMap((agent) =>
    FACES.flatMap((face) => MODES.map((mode) => ({ agent, face, mode, mark: `mark-${randomUUID()}` }))),
  )
  const asked = new Map<string, Told>()

  beforeAll(async () => {
    for (const { agent, face, mode, mark } of cases)
      asked.set(mark, await send(agent, face, mode, { query: `sandbox:interactive ${mark}` }))
    await gateway.kill()
    await gateway.start()
    api = apiOf(gateway)
  })

  test.each(cases)(
    '$agent, $face, $mode: one run, its context whole',
    async ({ agent, face, mode, mark }) => {
      const question = asked.get(mark)
      expect(question).toMatchObject({ status: 200, pause: { id: expect.stringMatching(/^[0-9a-f-]{36}$/) } })
      if (question === undefined) return
      expect(question.text).toContain(question.pause.question)
      for (const { title } of question.pause.options) expect(question.text).toContain(`- ${title}`)
      const reply = await send(agent, face, mode, {
        query: CHOICES[agent],
        ...(face === 'responses' ? { previous: question.id } : { conversation: question.conversation }),
      })
      expect(reply).toMatchObject({ status: 200, pause: undefined })
      const [run, ...others] = runsOf(agent, mark)
      expect(others).toEqual([])
      expect(run).toMatchObject({ state: 'finished', answers: [expect.anything()] })
      expect(reply.text.toLowerCase()).toContain(CHOICES[agent].toLowerCase())
    },
  )
})
