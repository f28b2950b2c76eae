import { randomUUID } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import type { SandboxAgent } from '@trunkline/sandbox'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type Api, apiOf } from '../support/api.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { startPlatforms, type TestedPlatforms } from '../support/platforms.ts'
import { until } from '../support/until.ts'

// A process, because the place of a conversation must survive kill -9 and a start with another list of deployments.

const PLATFORMS = ['fastgpt', 'hiagent', 'dify', 'coze', 'a2a', 'langgraph'] as const
type Keeper = (typeof PLATFORMS)[number]

let sandbox: TestedPlatforms
const seconds = new Map<Keeper, SandboxAgent>()
let gateway: TestGateway
let api: Api
let token: string
let key: { readonly id: string; readonly full_key: string }

/** What of an entry concerns its deployments. */
type Lists = (platform: Keeper, second: SandboxAgent) => object

const TWO: Lists = (_platform, { baseUrl }) => ({ deployments: [{ id: 'main' }, { id: 'us', baseUrl }] })
const ONE: Lists = () => ({ deployments: [{ id: 'main' }] })
const TAKEN_OVER: Lists = (_platform, { baseUrl }) => ({
  deployments: [{ id: 'main' }, { id: 'eu', formerly: ['us'], baseUrl }],
})
const MOVED: Lists = (_platform, { baseUrl }) => ({
  deployments: [
    { id: 'first', formerly: ['main'] },
    { id: 'us', baseUrl },
  ],
})
const NO_LIST: Lists = () => ({})

function configOf(lists: Lists): string {
  const agents = PLATFORMS.map((platform) => {
    const { baseUrl, apiKey, appId } = sandbox.agents[platform]
    const own = platform === 'coze' ? { botId: appId } : {}
    // How many failures a deployment meets depends on which of two calls comes first, so a breaker might open.
    const entry = { platform, baseUrl, apiKey, breaker: false, ...own }
    return [platform, { ...entry, ...lists(platform, second(platform)) }]
  })
  const plenty = { points: 100_000 }
  return JSON.stringify({ limits: { chat: plenty, calls: plenty }, agents: Object.fromEntries(agents) })
}

/** Starts the gateway anew with another configuration, as an operator does. */
async function restart(lists: Lists, { isKilled = false } = {}): Promise<void> {
  await (isKilled ? gateway.kill() : gateway.stop())
  await writeFile(gateway.configFile, configOf(lists))
  await gateway.start()
  api = apiOf(gateway)
}

function second(platform: Keeper): SandboxAgent {
  const found = seconds.get(platform)
  if (found === undefined) throw new Error(`no second ${platform}`)
  return found
}

beforeAll(async () => {
  sandbox = await startPlatforms()
  for (const platform of PLATFORMS) seconds.set(platform, await sandbox.startSecond(platform))
  gateway = await startGateway({ config: configOf(TWO) })
  api = apiOf(gateway)
  token = await api.login()
  key = await api.createKey(token)
})
afterEach(async () => {
  const all = [...Object.values(sandbox.agents), ...seconds.values()]
  await Promise.all(all.map(({ control }) => control.recover()))
})
afterAll(async () => {
  await gateway?.remove()
  await sandbox?.close()
})

const NAME = 'My name is Ada.'
const QUESTION = 'What is my name?'
const KNOWN = expect.stringContaining('Your name is Ada')

async function ask(agent: string, query: string, conversation: string) {
  const ids = {
    app_id: agent === 'fastgpt' ? 'app-1' : '',
    chat_id: conversation,
    conversation_id: conversation,
  }
  const response = await api.chat(key.full_key, agent, { query, ...ids })
  // biome-ignore lint/suspicious/noExplicitAny: replies are read as they come
  const body: any = await response.json()
  return { status: response.status, reason: body.reason, text: body.choices?.[0]?.message.content }
}

async function askByHeader(agent: string, query: string, conversation: string) {
  const answer = await api.call('POST', '/api/v1/chat/completions', {
    token: key.full_key,
    headers: { 'x-conversation-id': conversation },
    body: {
      model: agent === 'fastgpt' ? 'fastgpt/app-1' : agent,
      messages: [{ role: 'user', content: query }],
    },
  })
  return {
    status: answer.status,
    reason: answer.body.error?.code,
    text: answer.body.choices?.[0]?.message.content,
  }
}

const turnsAt = (platform: Keeper) =>
  [sandbox.agents[platform], second(platform)].map(({ seen }) => seen.turns())

/** Begins conversations until one lives at the second deployment. */
async function conversationAtUs(platform: Keeper): Promise<string> {
  return until(`a conversation of ${platform} is at us`, async () => {
    const conversation = randomUUID()
    const before = second(platform).seen.turns()
    expect((await ask(platform, NAME, conversation)).status).toBe(200)
    return second(platform).seen.turns() > before && conversation
  })
}

async function countsOf() {
  const { body } = await api.call('GET', `/api/v1/api-keys/${key.id}`, { token })
  return body.data.usage.total_calls as number
}

describe.each(PLATFORMS)('%s', (platform) => {
  // Each of two deployments refuses once, and the second call comes once by another face.
  test.each([0, 3])(
    'two first calls at once, while one deployment refuses, are at the same place: %i',
    async (round) => {
      const before = turnsAt(platform)
      await [sandbox.agents[platform], second(platform)][round % 2]?.control.fail('refuse')
      const conversation = randomUUID()
      const answers = await Promise.all([
        ask(platform, NAME, conversation),
        (round < 2 ? ask : askByHeader)(platform, NAME, conversation),
      ])
      for (const { control } of [sandbox.agents[platform], second(platform)]) await control.recover()
      const served = answers.filter(({ status }) => status === 200).length
      // A conversation that both have entered is not moved, so that both may have failed. A thread of LangGraph has one run at a time.
      const expected = platform === 'langgraph' ? [200, 409, 502] : [200, 502]
      expect(expected).toEqual(expect.arrayContaining(answers.map(({ status }) => status)))
      const goesOn = (query: string) =>
        until('the conversation goes on', async () => {
          const answer = await ask(platform, query, conversation)
          return answer.status === 200 && answer
        })
      await goesOn(NAME)
      const question = await goesOn(QUESTION)
      expect(question.text).toEqual(KNOWN)
      // All turns are in one conversation at one place.
      expect(question.text).toContain(`turn ${served + 2}`)
      const moved = turnsAt(platform).map((turns, index) => turns - (before[index] ?? 0))
      expect(moved.toSorted()).toEqual([0, served + 2])
    },
  )

  test('a conversation that a response continues stays where it is', async () => {
    const model = platform === 'fastgpt' ? 'fastgpt/app-1' : platform
    const respond = (body: object) =>
      api.call('POST', '/api/v1/responses', { token: key.full_key, body: { model, ...body } })
    const first = await until('a response is at us', async () => {
      const before = second(platform).seen.turns()
      const answer = await respond({ input: NAME })
      expect(answer.status).toBe(200)
      return second(platform).seen.turns() > before && answer
    })
    let previous = first.body.id
    for (let turn = 2; turn <= 4; turn += 1) {
      const before = turnsAt(platform)
      const next = await respond({ input: QUESTION, previous_response_id: previous })
      expect(next.status, JSON.stringify(next.body)).toBe(200)
      expect(next.body.output.at(-1).content[0].text).toEqual(KNOWN)
      expect(turnsAt(platform)).toEqual([before[0], (before[1] ?? 0) + 1])
      previous = next.body.id
    }
  })
})

test('kill -9 between two turns: the second goes to where the first is', async () => {
  const conversations = new Map<Keeper, string>()
  for (const platform of PLATFORMS) conversations.set(platform, await conversationAtUs(platform))
  await restart(TWO, { isKilled: true })
  for (const [platform, conversation] of conversations) {
    const before = turnsAt(platform)
    expect((await ask(platform, QUESTION, conversation)).text).toEqual(KNOWN)
    expect(turnsAt(platform)).toEqual([before[0], (before[1] ?? 0) + 1])
  }
}, 120_000)

test('a deployment that lists another under formerly has its conversations', async () => {
  const conversations = new Map<Keeper, string>()
  for (const platform of PLATFORMS) conversations.set(platform, await conversationAtUs(platform))
  await restart(TAKEN_OVER)
  for (const [platform, conversation] of conversations) {
    const before = turnsAt(platform)
    expect((await ask(platform, QUESTION, conversation)).text).toEqual(KNOWN)
    expect(turnsAt(platform)).toEqual([before[0], (before[1] ?? 0) + 1])
  }
  await restart(TWO)
}, 120_000)

test('conversations from before the list belong to main, or to what was main', async () => {
  await restart(NO_LIST)
  const conversations = new Map<Keeper, string>()
  for (const platform of PLATFORMS) {
    const conversation = randomUUID()
    expect((await ask(platform, NAME, conversation)).status).toBe(200)
    conversations.set(platform, conversation)
  }
  for (const lists of [TWO, MOVED]) {
    await restart(lists)
    for (const [platform, conversation] of conversations) {
      for (let turn = 0; turn < 3; turn += 1) {
        const before = turnsAt(platform)
        expect((await ask(platform, QUESTION, conversation)).text, platform).toEqual(KNOWN)
        expect(turnsAt(platform)).toEqual([(before[0] ?? 0) + 1, before[1]])
      }
    }
  }
  await restart(TWO)
}, 120_000)

/** `third` keeps the agent at two deployments when `us` is gone. */
const REPLACED: Lists = (_platform, { baseUrl }) => ({
  deployments: [{ id: 'main' }, { id: 'third', baseUrl }],
})

test.each([
  ['another is added', REPLACED],
  ['one is left', ONE],
])(
  'the conversations of a deployment that is removed are not found, and nothing is counted: %s',
  async (_what, lists) => {
    const conversations = new Map<Keeper, string>()
    for (const platform of PLATFORMS) conversations.set(platform, await conversationAtUs(platform))
    await restart(lists)
    const before = await countsOf()
    const turns = PLATFORMS.map(turnsAt)
    const results: unknown[] = []
    for (const [platform, conversation] of conversations) {
      const { status, reason } = await ask(platform, QUESTION, conversation)
      results.push([platform, status, reason])
    }
    const counted = (await countsOf()) - before
    await restart(TWO)
    expect([results, counted]).toEqual([
      PLATFORMS.map((platform) => [platform, 404, 'conversation_not_found']),
      0,
    ])
    expect(PLATFORMS.map(turnsAt)).toEqual(turns)
  },
  120_000,
)
