import { describe, expect, test } from 'vitest'
import type { Agent } from '#core/agents/adapter.ts'
import { agentOf } from '#core/agents/transcripts.test-support.ts'
import { createCards } from './cards.ts'
import { OpeningFailed } from './opening-failed.ts'
import { UpstreamError } from './upstream-error.ts'

const CARD = {
  supportedInterfaces: [{ url: '/one', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
}
const OTHER = { supportedInterfaces: [{ ...CARD.supportedInterfaces[0], url: '/two' }] }

type Answer = { status?: number; body?: unknown; cacheControl?: string } | Error

/** Cards of a server that gives these answers, one after the other, and then the last one again. */
function cardsFrom(...answers: Answer[]) {
  let ms = 0
  const asked: { url: string; timeoutMs: number; bytesMax: number | undefined }[] = []
  const cards = createCards(
    async (_agent, { request, read, replyBytesMax }, timeoutMs) => {
      asked.push({ url: request.url, timeoutMs, bytesMax: replyBytesMax })
      const answer = (answers.length > 1 ? answers.shift() : answers[0]) ?? {}
      if (answer instanceof Error) throw answer
      const { status = 200, body = CARD, cacheControl } = answer
      return read(status, body, (name) => (name === 'cache-control' ? cacheControl : undefined))
    },
    () => ms,
  )
  const agent: Agent = agentOf('a2a', {
    options: {},
    timeouts: { ...agentOf('a2a').timeouts, firstByteMs: 60_000 },
  })
  return {
    agent,
    asked,
    cards,
    pass: (seconds: number) => {
      ms += seconds * 1_000
    },
    urlNow: async () => ((await cards.of(agent)) as { url: string }).url,
  }
}

const ONE = 'https://platform.example/one'
const TWO = 'https://platform.example/two'

async function failureOf(card: unknown) {
  const error: unknown = await Promise.resolve(card).catch((thrown: unknown) => thrown)
  if (!(error instanceof OpeningFailed)) throw new Error('the card could be used')
  return error.failure
}

test('a platform without cards is asked for none, and gets its calls at once', () => {
  const { cards, asked } = cardsFrom()
  expect([cards.of(agentOf('dify')), cards.renew(agentOf('dify')), asked]).toEqual([undefined, false, []])
})

test('a card that stands in the configuration is known at once and never read anew', () => {
  const { cards, asked } = cardsFrom()
  const agent = agentOf('a2a')
  expect(cards.of(agent)).toMatchObject({ url: 'https://platform.example/rpc' })
  expect([cards.renew(agent), asked]).toEqual([false, []])
})

test('calls at the same time share one request, which has a time limit and a bound of its own', async () => {
  const { cards, agent, asked, urlNow } = cardsFrom({})
  expect(await Promise.all([cards.of(agent), cards.of(agent), cards.of(agent)])).toHaveLength(3)
  expect(await urlNow()).toBe(ONE)
  expect(asked).toEqual([
    { url: 'https://platform.example/.well-known/agent-card.json', timeoutMs: 10_000, bytesMax: 1024 * 1024 },
  ])
})

describe('a card is kept', () => {
  test.each([
    ['an hour, if the server does not say how long', undefined, 3_600],
    ['as long as the server says', 'public, max-age=120', 120],
    ['a minute at least, so that no server has it read for each call', 'no-store', 60],
    ['a day at most', 'max-age=9999999999', 86_400],
  ])('%s', async (_name, cacheControl, seconds) => {
    const { asked, pass, urlNow } = cardsFrom({ ...(cacheControl !== undefined && { cacheControl }) })
    await urlNow()
    pass(seconds - 1)
    await urlNow()
    expect(asked).toHaveLength(1)
    pass(1)
    await urlNow()
    expect(asked).toHaveLength(2)
  })

  test('and used while it is read anew, so that no call waits', async () => {
    const { cards, agent, asked, pass, urlNow } = cardsFrom({}, { body: OTHER })
    await urlNow()
    pass(3_600)
    expect(cards.of(agent)).toMatchObject({ url: ONE })
    expect(cards.of(agent)).toMatchObject({ url: ONE })
    await new Promise(setImmediate)
    expect(cards.of(agent)).toMatchObject({ url: TWO })
    expect(asked).toHaveLength(2)
  })

  test('and used if it cannot be read anew, which is tried every five seconds', async () => {
    const { asked, pass, urlNow } = cardsFrom({}, { status: 500 })
    await urlNow()
    pass(3_600)
    for (let second = 0; second < 11; second++) {
      expect(await urlNow()).toBe(ONE)
      await new Promise(setImmediate)
      pass(1)
    }
    expect(asked).toHaveLength(4)
  })
})

test('a card that is changed to one that cannot be used takes nothing from the calls, and leads nowhere else', async () => {
  const { asked, pass, urlNow } = cardsFrom({}, { body: { url: 'https://evil.example/' } })
  await urlNow()
  pass(3_600)
  for (const _call of [1, 2, 3]) {
    expect(await urlNow()).toBe(ONE)
    await new Promise(setImmediate)
    pass(5)
  }
  expect(asked).toHaveLength(4)
})

describe('a card that cannot be had is the failure of the call, of which nothing was sent', () => {
  test.each<[string, Answer, object]>([
    [
      'a server that cannot be reached',
      new UpstreamError('agent_unreachable'),
      { reason: 'agent_unreachable' },
    ],
    ['no answer in time', UpstreamError.timeout(true), { reason: 'agent_timeout' }],
    [
      'a redirect',
      UpstreamError.redirect(302, 'https://evil.example/', ONE),
      { reason: 'agent_misconfigured' },
    ],
    ['ten megabytes', new UpstreamError('agent_malformed', { isTooLarge: true }), { isTooLarge: true }],
    ['a wrong key', { status: 401, body: {} }, { reason: 'agent_credentials', platformStatus: 401 }],
    ['a failing server', { status: 500, body: '' }, { reason: 'agent_error', platformStatus: 500 }],
    ['a page', { body: '<html>' }, { reason: 'agent_misconfigured' }],
    ['another origin', { body: { url: 'https://evil.example/' } }, { reason: 'agent_misconfigured' }],
  ])('%s', async (_name, answer, failure) => {
    const { cards, agent } = cardsFrom(answer)
    expect(await failureOf(cards.of(agent))).toMatchObject({ ...failure, turn: 'none' })
  })

  test.each<[string, Answer]>([
    ['by its status', { status: 500 }],
    ['by a card that cannot be used', { body: {} }],
    ['by a redirect', UpstreamError.redirect(302, '/', ONE)],
  ])('an agent that has answered so %s is not asked again for five seconds', async (_name, answer) => {
    const { cards, agent, asked, pass, urlNow } = cardsFrom(answer, {})
    await failureOf(cards.of(agent))
    pass(4)
    await failureOf(cards.of(agent))
    expect(asked).toHaveLength(1)
    pass(1)
    expect(await urlNow()).toBe(ONE)
  })

  test('the latest failure counts', async () => {
    const { cards, agent, pass } = cardsFrom({ status: 404, body: {} }, UpstreamError.timeout(true))
    expect(await failureOf(cards.of(agent))).toMatchObject({ reason: 'agent_misconfigured' })
    pass(5)
    for (const _call of [1, 2])
      expect(await failureOf(cards.of(agent))).toMatchObject({ reason: 'agent_timeout' })
  })

  test('one that could not be reached is asked again by the next call', async () => {
    const { cards, agent, urlNow } = cardsFrom(new UpstreamError('agent_unreachable'), {})
    await failureOf(cards.of(agent))
    expect(await urlNow()).toBe(ONE)
  })
})

test('a card that is out of date is read anew by the next call, once in five seconds', async () => {
  const { cards, agent, asked, pass, urlNow } = cardsFrom({}, { body: OTHER })
  await urlNow()
  expect(cards.renew(agent)).toBe(false)
  pass(5)
  expect(cards.renew(agent)).toBe(true)
  expect(await urlNow()).toBe(TWO)
  expect([cards.renew(agent), asked.length]).toEqual([false, 2])
})
