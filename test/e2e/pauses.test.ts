import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Api, apiOf } from '../support/api.ts'
import {
  askOnFace,
  FACES,
  type Face,
  type Message,
  type Mode,
  type Told,
  waysOf,
} from '../support/ask-on-face.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { startPlatforms, type TestedPlatforms } from '../support/platforms.ts'

// A process, because a pause must be answered after a kill -9, by whatever process is there then.

const AGENTS = ['fastgpt', 'hiagent', 'chatflow', 'workflow', 'a2a', 'langgraph'] as const
type Agent = (typeof AGENTS)[number]

let sandbox: TestedPlatforms
let gateway: TestGateway
let api: Api
let key: string

beforeAll(async () => {
  sandbox = await startPlatforms()
  const { fastgpt, hiagent, dify, a2a, langgraph } = sandbox.agents
  const agents = {
    fastgpt: {
      platform: 'fastgpt',
      baseUrl: fastgpt.baseUrl,
      apiKey: fastgpt.apiKey,
      apps: { 'app-1': {} },
    },
    hiagent: { platform: 'hiagent', baseUrl: hiagent.baseUrl, apiKey: hiagent.apiKey },
    chatflow: { platform: 'dify', baseUrl: dify.baseUrl, apiKey: dify.keys.chatflow2026 },
    a2a: { platform: 'a2a', baseUrl: a2a.baseUrl, apiKey: a2a.apiKey },
    langgraph: { platform: 'langgraph', baseUrl: langgraph.baseUrl, apiKey: langgraph.apiKey },
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

/** With the key of another than the usual owner. */
interface OwnMessage extends Message {
  readonly key?: string
}

const send = (agent: Agent, face: Face, mode: Mode, { key: own = key, ...message }: OwnMessage) =>
  askOnFace({ url: gateway.url, key: own, agent, face, mode, message })

const platformOf = (agent: Agent) =>
  agent === 'chatflow' || agent === 'workflow'
    ? 'dify'
    : (agent satisfies 'fastgpt' | 'hiagent' | 'a2a' | 'langgraph')
const runsOf = (agent: Agent, mark: string) =>
  sandbox.agents[platformOf(agent)].seen.runs.filter(({ query }) => query.includes(mark))

/** The option that is chosen, and how the rest of the run shows that it was. */
const CHOICES: Readonly<Record<Agent, string>> = {
  fastgpt: '确认',
  hiagent: 'the blue one',
  chatflow: 'Approve',
  workflow: 'approve',
  a2a: 'the green one',
  langgraph: 'Approve',
}

describe('a question is answered after a kill -9, by the process that is there then', () => {
  const cases = waysOf(AGENTS).map((way) => ({ ...way, mark: `mark-${randomUUID()}` }))
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

/** Cancels a task without the gateway, as another client of the agent may. */
async function cancelTask(id: string): Promise<void> {
  const { baseUrl, apiKey } = sandbox.agents.a2a
  const headers = { 'a2a-version': '1.0', authorization: `Bearer ${apiKey}` }
  const response = await fetch(`${baseUrl}/rest/tasks/${id}:cancel`, { method: 'POST', headers })
  expect(response.status).toBe(200)
}

const refusalOf = ({ status, reason, field }: Told) => ({ status, reason, field })

async function ask(agent: Agent, query: string, more: Partial<OwnMessage> = {}) {
  const mark = `mark-${randomUUID()}`
  const told = await send(agent, 'rest', 'json', { query: `${query} ${mark}`, ...more })
  expect(told).toMatchObject({ status: 200, pause: { id: expect.any(String) } })
  return { ...told, mark }
}

describe('an answer by the id of its pause', () => {
  const asks = async (agent: Agent, query = 'sandbox:interactive') => {
    const question = await ask(agent, query)
    const say = (answer: object, more: Partial<OwnMessage> = {}, face: Face = 'rest') =>
      send(agent, face, 'json', {
        ...{
          query: '',
          conversation: question.conversation,
          answer: { pause: question.pause.id, ...answer },
        },
        ...more,
      })
    const calls = async () => {
      const { body } = await api.call('GET', '/api/v1/calls?limit=100&agent=chatflow', { token: key })
      return body.data.items.filter(
        ({ conversation }: { conversation: string }) => conversation === question.conversation,
      )
    }
    return { question, say, calls }
  }

  test.each(['chatflow', 'workflow', 'fastgpt', 'langgraph'] as const)(
    '%s: the option, once',
    async (agent) => {
      const { question, say } = await asks(agent)
      const [option] = question.pause.options
      expect(await say({ option: option.id })).toMatchObject({
        status: 200,
        text: expect.stringContaining(option.title),
      })
      expect(refusalOf(await say({ option: option.id }))).toMatchObject({ status: 409, reason: 'pause_over' })
      expect(runsOf(agent, question.mark)).toHaveLength(1)
    },
  )

  test.each(['chatflow', 'workflow', 'fastgpt', 'a2a'] as const)(
    '%s: the fields of a form',
    async (agent) => {
      const { question, say } = await asks(agent, 'sandbox:interactive=form')
      const fields = Object.fromEntries(
        // biome-ignore lint/suspicious/noExplicitAny: as the client has parsed it
        question.pause.fields.map(({ name, type, options }: any) => [
          name,
          {
            ...{ text: 'Ada', paragraph: 'two\nlines', number: 3, select: options?.[0], checkbox: true },
            ...{ file: 'https://files.example.com/a.png', 'file-list': ['https://files.example.com/b.pdf'] },
          }[type as string],
        ]),
      )
      expect(question.pause.fields.length).toBeGreaterThan(1)
      const option = question.pause.options[0]?.id
      const required = question.pause.fields.find(
        (field: { required: boolean; default?: unknown }) => field.required && field.default === undefined,
      )
      // Dify's forms require nothing unless the maker of the workflow says so.
      expect(required !== undefined).toBe(agent === 'fastgpt' || agent === 'a2a')
      if (required !== undefined) {
        const { [required.name]: _left, ...partial } = fields
        const before = runsOf(agent, question.mark)[0]?.answers?.length
        for (const _try of [1, 2]) {
          expect(refusalOf(await say({ option, fields: partial }))).toEqual({
            ...{ status: 400, reason: 'answer_required', field: `body.answer.fields.${required.name}` },
          })
        }
        expect(runsOf(agent, question.mark)[0]?.answers?.length).toBe(before)
      }
      const reply = await say({ option, fields })
      expect(reply).toMatchObject({ status: 200, pause: undefined })
      expect(reply.text).toMatch(/Ada|two\\?n?\n?lines/)
    },
  )

  test('an unknown option, a text that is none and a wrong id are refused twice on every face, and nothing is sent or counted', async () => {
    const { question, say, calls } = await asks('chatflow')
    const rows = (await calls()).length
    for (const face of FACES) {
      for (const _try of [1, 2]) {
        expect(refusalOf(await say({ option: 'nothing' }, {}, face))).toMatchObject({
          ...{ status: 400, reason: 'answer_required' },
          field: expect.stringMatching(/answer\.option(?:Id)?$/),
        })
        expect(refusalOf(await say({}, { answer: undefined, query: 'maybe' } as object, face))).toMatchObject(
          {
            ...{ status: 400, reason: 'answer_required' },
          },
        )
        for (const pause of [randomUUID(), 'no id'])
          expect(refusalOf(await say({ pause, option: 'approve' }, {}, face))).toMatchObject({ status: 409 })
      }
    }
    expect((await calls()).length).toBe(rows)
    expect(runsOf('chatflow', question.mark)).toMatchObject([{ state: 'paused', answers: [] }])
    expect(await say({ option: 'approve' })).toMatchObject({ status: 200 })
  })

  test('another owner, another end user and a revoked key do not see it', async () => {
    const token = await api.login()
    const user = await api.createUser(token, `user-${randomUUID().slice(0, 8)}`, { role: 'premium' })
    const other = await api.createKey(await api.login(user.username, user.password))
    const { question, say } = await asks('chatflow')
    expect(refusalOf(await say({ option: 'approve' }, { key: other.full_key }))).toMatchObject({
      reason: 'pause_over',
    })
    expect(refusalOf(await say({ option: 'approve' }, { user: 'mallory' }))).toMatchObject({
      reason: 'pause_over',
    })
    const revoked = await api.createKey(token)
    await api.call('DELETE', `/api/v1/api-keys/${revoked.id}`, { token })
    expect(refusalOf(await say({ option: 'approve' }, { key: revoked.full_key }))).toMatchObject({
      status: 401,
    })
    expect(runsOf('chatflow', question.mark)).toMatchObject([{ state: 'paused' }])
    expect(await say({ option: 'approve' })).toMatchObject({ status: 200 })
  })

  test.each(['chatflow', 'workflow', 'fastgpt', 'hiagent', 'a2a', 'langgraph'] as const)(
    '%s: of two at once exactly one reaches the platform',
    async (agent) => {
      for (let round = 0; round < 3; round += 1) {
        const { question, say } = await asks(agent)
        const option = question.pause.options[0]?.id
        const said = option === undefined ? { query: 'blue' } : {}
        const both = await Promise.all(Array.from({ length: 4 }, () => say({ option }, said)))
        expect(both.map(({ status }) => status).toSorted()).toEqual([200, 409, 409, 409])
        expect(runsOf(agent, question.mark)).toMatchObject([{ answers: [expect.anything()] }])
      }
    },
  )

  test('the rest of a run of Dify is whole, however soon it comes', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { say } = await asks('chatflow', 'sandbox:interactive sandbox:eager')
      const { status, text } = await say({ option: 'approve' })
      expect(status).toBe(200)
      expect(text).toMatch(/^You chose “Approve”\./)
      expect(text).toContain('You asked: “')
    }
  })

  test.each([
    ['chatflow', 'approve', 'reject'],
    ['langgraph', 'Approve', 'Reject'],
  ] as const)(
    '%s: a question after the answer is a pause of its own, and two that wait at once are asked one after the other',
    async (agent, yes, no) => {
      for (const query of ['sandbox:interactive=twice', 'sandbox:interactive=both']) {
        const { question, say } = await asks(agent, query)
        const next = await say({ option: yes })
        expect(next.pause.id).not.toBe(question.pause.id)
        expect(refusalOf(await say({ option: yes }))).toMatchObject({ reason: 'pause_over' })
        const last = await say({ pause: next.pause.id, option: no })
        expect(last).toMatchObject({ status: 200, pause: undefined })
        expect(runsOf(agent, question.mark)).toMatchObject([{ state: 'finished', answers: [{}, {}] }])
      }
    },
  )

  test('one that has expired, that was sent by e-mail, or that is empty cannot be answered', async () => {
    const expired = await asks('chatflow', 'sandbox:interactive=expired')
    expect(refusalOf(await expired.say({ option: 'approve' }))).toMatchObject({
      status: 409,
      reason: 'pause_over',
    })
    expect(
      await send('chatflow', 'rest', 'json', { query: 'Hello', conversation: expired.question.conversation }),
    ).toMatchObject({
      status: 200,
    })
    const again = await asks('chatflow', 'sandbox:interactive=expired')
    const say = (query: string) =>
      send('chatflow', 'rest', 'json', { query, conversation: again.question.conversation })
    expect(refusalOf(await say('Approve'))).toMatchObject({ reason: 'pause_over' })
    expect(await say('Approve')).toMatchObject({ status: 200 })
    const email = await asks('chatflow', 'sandbox:interactive=email')
    expect(email.question.pause).toMatchObject({ options: [], fields: [] })
    expect(refusalOf(await email.say({ option: 'approve' }))).toMatchObject({ reason: 'pause_over' })
    const empty = await send('chatflow', 'rest', 'json', { query: 'sandbox:interactive=empty' })
    expect(refusalOf(empty)).toMatchObject({ status: 502, reason: 'agent_requires_action' })
  })

  test('is given up, with or without another message', async () => {
    const { question, say } = await asks('chatflow')
    expect(await say({ cancel: true })).toMatchObject({ status: 200, text: '', pause: undefined })
    expect(refusalOf(await say({ option: 'approve' }))).toMatchObject({ reason: 'pause_over' })
    expect(runsOf('chatflow', question.mark)).toHaveLength(1)
    const other = await asks('chatflow')
    const reply = await other.say({ cancel: true }, { query: 'Hello again' })
    expect(reply).toMatchObject({ status: 200, text: expect.stringContaining('Hello again') })
  })

  test('an A2A task that is given up is cancelled, and one that is over says so', async () => {
    const { question, say } = await asks('a2a')
    expect(await say({ cancel: true })).toMatchObject({ status: 200, text: '', pause: undefined })
    const [run] = runsOf('a2a', question.mark)
    await sandbox.agents.a2a.seen.waitFor(({ stops }) => stops.some(({ runId }) => runId === run?.id))
    const other = await asks('a2a')
    const [waiting] = runsOf('a2a', other.question.mark)
    await cancelTask(waiting?.id ?? '')
    expect(refusalOf(await other.say({}, { query: 'blue' }))).toMatchObject({
      status: 409,
      reason: 'pause_over',
    })
  })

  test('a pause whose answer was refused before it was sent is open again', async () => {
    const { question, say } = await asks('chatflow')
    const { control } = sandbox.agents.dify
    await control.fail('401')
    expect(refusalOf(await say({ option: 'approve' }))).toMatchObject({
      status: 502,
      reason: 'agent_credentials',
    })
    await control.recover()
    expect(runsOf('chatflow', question.mark)).toMatchObject([{ state: 'paused' }])
    expect(await say({ option: 'approve' })).toMatchObject({ status: 200 })
  })
})

describe('an answer with an Idempotency-Key', () => {
  test('reaches the platform once, and everybody gets its reply, however often it is sent at once', async () => {
    for (const agent of AGENTS) {
      const { conversation, mark, pause } = await ask(agent, 'sandbox:interactive')
      const message = {
        query: CHOICES[agent],
        conversation,
        answer: { pause: pause.id, option: pause.options[0]?.id },
      }
      const idempotencyKey = randomUUID()
      const all = await Promise.all(
        Array.from({ length: 20 }, () => send(agent, 'rest', 'kept', { ...message, idempotencyKey })),
      )
      expect(new Set(all.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
      expect(all[0]).toMatchObject({ status: 200, text: expect.stringMatching(/\S/) })
      expect(runsOf(agent, mark)).toMatchObject([{ answers: [expect.anything()] }])
      expect(await send(agent, 'rest', 'kept', { ...message, idempotencyKey })).toMatchObject({
        text: all[0]?.text,
      })
    }
  })

  test('that was refused before it was sent may be sent again with the same key', async () => {
    const { conversation, mark, pause } = await ask('chatflow', 'sandbox:interactive')
    const message = {
      query: '',
      conversation,
      answer: { pause: pause.id, option: 'approve' },
      idempotencyKey: randomUUID(),
    }
    const { control } = sandbox.agents.dify
    await control.fail('401')
    expect(refusalOf(await send('chatflow', 'rest', 'kept', message)).reason).toBe('agent_credentials')
    await control.recover()
    expect(await send('chatflow', 'rest', 'kept', message)).toMatchObject({ status: 200, pause: undefined })
    expect(runsOf('chatflow', mark)).toMatchObject([{ state: 'finished' }])
  })
})
