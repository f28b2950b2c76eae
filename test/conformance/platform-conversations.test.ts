import { randomBytes } from 'node:crypto'
import type {
  AgentCall,
  ConversationCalls,
  HelperCall,
  PlatformConversation,
  PlatformMessage,
} from '@trunkline/gateway/src/core/agents/adapter.ts'
import {
  adapterOf,
  agentFor,
  agentOf,
  callOf,
  conversationOf,
  fold,
  read,
  textSent,
} from '@trunkline/gateway/src/core/agents/transcripts.test-support.ts'
import { createUpstream } from '@trunkline/gateway/src/core/agents/upstream/upstream.ts'
import type { Dialect } from '@trunkline/gateway/test/agents/dialect.test-support.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startPlatforms, type TestedPlatform, type TestedPlatforms } from '../support/platforms.ts'
import { dialectsIn } from './dialects-in.ts'

// A process, because LangGraph's server is one; what is read and changed are the conversations that real servers and emulators keep.

const folders = new URL('../../apps/gateway/src/core/agents/platforms/', import.meta.url)
const MIB = 1024 * 1024
const upstream = createUpstream({ replyBytesMax: MIB, unsentBytesMax: MIB })

let platforms: TestedPlatforms
beforeAll(async () => {
  platforms = await startPlatforms()
})
afterAll(async () => {
  await upstream.close()
  await platforms.close()
})

/** The dialects whose platform has a call. What a proxy sends elsewhere has the conversations of another one. */
const all = (await dialectsIn(folders)).filter(({ rewrite }) => rewrite === undefined)
const having = (call: keyof ConversationCalls): readonly Dialect[] =>
  all.filter(({ platform, entry }) => {
    const agent = agentOf(platform, { options: optionsOf(platform, entry) })
    return adapterOf(platform).conversations?.(agent)?.[call] !== undefined
  })

/** The platforms whose history does not show a rating. */
const HIDES_RATINGS: readonly string[] = ['coze']

test.each(having('history'))(
  '$name: the messages are those of the replies, page by page, with the ids of the answers',
  async (dialect) => {
    const { calls, conversation, turns } = await talk(dialect, ['first', 'second', 'third'])
    const history = present(calls.history)
    const pages: (readonly PlatformMessage[])[] = []
    let before: string | undefined
    do {
      const page: Parameters<typeof history>[1] = { limit: 2, ...(before !== undefined && { before }) }
      const read = await ask(conversation, history(conversation, page))
      pages.unshift(read.items)
      before = read.before
    } while (before !== undefined && pages.length < 10)
    const messages = pages.flat()
    expect(messages.map(({ role, text }) => [role, text])).toEqual(
      turns.flatMap(({ query, text }) => [
        ['user', query],
        ['assistant', text],
      ]),
    )
    const answers = messages.filter(({ role }) => role === 'assistant')
    expect(answers.map(({ answerId }) => answerId)).toEqual(turns.map(({ answerId }) => answerId))
    expect(new Set(messages.map(({ id }) => id)).size).toBe(messages.length)
  },
)

test.each(having('turn'))(
  '$name: a turn is read by the id of its answer, where the platform keeps turns',
  async (dialect) => {
    const { calls, conversation, turns } = await talk(dialect, ['first', 'second'])
    const turn = present(calls.turn)
    const read: PlatformMessage[] = []
    for (const { answerId } of turns)
      read.push(...(await ask(conversation, turn(conversation, answerId ?? ''))))
    expect(read.map(({ role, text }) => [role, text])).toEqual(
      turns.flatMap(({ query, text }) => [
        ['user', query],
        ['assistant', text],
      ]),
    )
    expect(await ask(conversation, turn(conversation, 'unknown'))).toEqual([])
  },
)

test.each(having('rename'))('$name: a name reaches the platform', async (dialect) => {
  const { calls, conversation } = await talk(dialect, ['first'])
  const name = `Trips ${randomBytes(4).toString('hex')}`
  await ask(conversation, present(calls.rename)(conversation, name))
  const { requests } = emulatorOf(dialect).seen
  expect(requests.filter(({ body }) => JSON.stringify(body).includes(name))).not.toEqual([])
})

test.each(having('rate'))(
  '$name: an answer is rated up and down, and the rating is taken back, more than once',
  async (dialect) => {
    const { calls, conversation, turns } = await talk(dialect, ['first', 'second'])
    const { history } = calls
    const rate = present(calls.rate)
    const answerId = turns[1]?.answerId ?? ''
    const ratings: unknown[] = []
    for (const rating of ['up', 'down', null] as const) {
      await ask(conversation, rate(conversation, { answerId, rating, text: 'So it is.' }))
      const page = history && (await ask(conversation, history(conversation, { limit: 2 })))
      ratings.push(page?.items.find((message) => message.answerId === answerId)?.rating)
    }
    const isShown = history !== undefined && !HIDES_RATINGS.includes(dialect.platform)
    const shown = isShown ? ['up', 'down'] : [undefined, undefined]
    expect(ratings).toEqual([...shown, undefined])
    await ask(conversation, rate(conversation, { answerId, rating: null }))
  },
)

test.each(having('remove'))(
  '$name: a conversation is deleted once, and a repeat finds that it is gone',
  async (dialect) => {
    const { calls, conversation, turns } = await talk(dialect, ['first'])
    const { history } = calls
    const remove = present(calls.remove)
    await ask(conversation, remove(conversation))
    await ask(conversation, remove(conversation))
    const after = history?.(conversation, { limit: 2 })
    const read = after && (await upstream.help(conversation.agent, after, 5_000))
    const again = await say(dialect, conversation, 'again')
    switch (dialect.platform) {
      // It only marks a chat as deleted, so that its id still leads to the messages.
      case 'fastgpt':
        expect(read).toMatchObject({ ok: { items: [{ text: turns[0]?.query }, { text: turns[0]?.text }] } })
        break
      // The id is the gateway's own, under which a new thread is made.
      case 'langgraph':
        expect(read).toMatchObject({ failure: { reason: 'conversation_not_found' } })
        expect(await ask(conversation, history?.(conversation, { limit: 20 }))).toMatchObject({
          items: [{ text: 'again' }, { text: again.text }],
        })
        break
      default:
        expect(read).toMatchObject({ failure: { reason: 'conversation_not_found' } })
        expect(again.failure).toMatchObject({ reason: 'conversation_not_found' })
    }
  },
)

function optionsOf(platform: string, entry: Dialect['entry']) {
  return { ...agentFor(adapterOf(platform)).options, ...entry }
}

function emulatorOf({ platform }: Dialect) {
  return platforms.agents[platform as TestedPlatform]
}

interface Talk {
  readonly calls: ConversationCalls
  readonly conversation: PlatformConversation
  readonly turns: readonly (Awaited<ReturnType<typeof say>> & { readonly query: string })[]
}

/** Asks the questions one after the other in a new conversation. */
async function talk(dialect: Dialect, queries: readonly string[]): Promise<Talk> {
  const { platform, key, entry, appId } = dialect
  const { baseUrl, keys } = emulatorOf(dialect)
  const adapter = adapterOf(platform)
  const agent = agentFor(adapter, {
    baseUrl,
    apiKey: keys[key] ?? '',
    options: optionsOf(platform, entry),
  })
  const calls = present(adapter.conversations?.(agent))
  const creation = adapter.createConversation?.(callOf(agent, { appId }))
  const created = creation && (await upstream.help(agent, creation, 5_000))
  const derived = adapter.context(agent) === 'client' ? randomBytes(32).toString('hex') : undefined
  let id = created && 'ok' in created ? created.ok.platformConversationId : derived
  const turns: Talk['turns'][number][] = []
  for (const query of queries) {
    const reply = await say(
      dialect,
      { ...conversationOf(agent, { appId }), platformConversationId: id },
      query,
    )
    if (reply.failure !== undefined) throw new Error(JSON.stringify(reply.failure))
    id ??= reply.platformConversationId
    turns.push({ ...reply, query })
  }
  return { calls, turns, conversation: conversationOf(agent, { appId, platformConversationId: id ?? '' }) }
}

/** One chat, whose reply is read as a whole. */
async function say(
  { appId }: Dialect,
  { agent, platformConversationId }: Pick<AgentCall, 'agent' | 'platformConversationId'>,
  query: string,
) {
  const { adapter } = agent
  const callId = randomBytes(12).toString('hex')
  const call = callOf(agent, { appId, query, callId, platformConversationId })
  const { url, method, headers, ...request } = adapter.buildRequest(call)
  const response = await fetch(url, { method, headers, body: textSent(request) })
  const state = adapter.start(call)
  const transcript = {
    name: query,
    bytes: Buffer.from(await response.arrayBuffer()),
    http_status: response.status,
    content_type: response.headers.get('content-type') ?? '',
    extra_headers: Object.fromEntries(response.headers),
    outcome: 'ok',
    expect_text: null,
    expect_finish_reason: null,
    expect_usage: null,
    // Whoever is asked how a run has ended says that it was well.
    concluded: { about: '', body: { status: 'success' } },
  }
  const { text, failure } = fold(read(adapter, call, transcript, undefined, state))
  return { text, failure, answerId: state.answerId, platformConversationId: state.platformConversationId }
}

function present<Call>(call: Call | undefined): Call {
  if (call === undefined) throw new Error('there is no such call')
  return call
}

async function ask<Result>(
  { agent }: Pick<PlatformConversation, 'agent'>,
  call: HelperCall<Result> | undefined,
): Promise<Result> {
  const answer = await upstream.help(agent, present(call), 5_000)
  if ('failure' in answer) throw new Error(JSON.stringify(answer.failure))
  return answer.ok
}
