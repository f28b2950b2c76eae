import { randomBytes } from 'node:crypto'
import type { UpstreamRequest } from '@trunkline/gateway/src/core/agents/adapter.ts'
import type { ChatEvent } from '@trunkline/gateway/src/core/agents/events.ts'
import {
  adapterOf,
  agentOf,
  callOf,
  read,
  textSent,
} from '@trunkline/gateway/src/core/agents/transcripts.test-support.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TestedPlatform, TestedPlatforms } from '../support/platforms.ts'
import {
  PLATFORMS,
  startTurnFaults,
  statusOf,
  TURN_FAULTS,
  type TurnFaults,
  WAYS,
} from '../support/turn-faults.ts'

// A process, because the faults are those of connections, and what counts is what the platform and the ledger have afterwards.

/** How many requests a call may make by default. */
const ATTEMPTS = 2

let faults: TurnFaults

beforeAll(async () => {
  faults = await startTurnFaults()
})
afterAll(() => faults.remove())

describe.each(PLATFORMS)('%s', (platform) => {
  const cases = TURN_FAULTS.flatMap((fault) => WAYS.map((way) => ({ id: fault.id, way, fault })))

  test.each(cases)(
    '$id, asked for as $way, stores at most one turn and counts once',
    async ({ fault, way }) => {
      const { status, reason, turns, rows, counted } = await faults.meet(fault, platform, way)
      const own = fault.otherwise?.[platform]
      expect(own === undefined ? fault.reasons : [own ?? undefined]).toContain(reason)
      expect(status).toBe(
        statusOf(fault, way, own === undefined ? (fault.reasons[0] ?? 'internal_error') : own),
      )
      expect(rows).toMatchObject([{ reason: reason ?? null }])
      expect(counted).toBe(1)
      // A server that keeps nothing may get the call again as long as no part of its reply has been seen.
      const mayBeAskedAgain = platform === 'openai' && !(way === 'stream' && fault.isMidStream)
      expect(turns).toBeGreaterThanOrEqual(fault.stored)
      expect(turns).toBeLessThanOrEqual(fault.stored * (mayBeAskedAgain ? ATTEMPTS : 1))
    },
  )

  const answered = TURN_FAULTS.filter(({ at, word }) => at === undefined && !/hang|reset/.test(word))

  test.each(answered)(
    '$id: the adapter says that no turn was stored where this is recorded',
    async (fault) => {
      const query = `${fault.word} asked directly`
      const events = await askDirectly(faults.sandbox, platform, query)
      const failures = events.flatMap((event) => (event.type === 'error' ? [event.failure] : []))
      expect(failures.map(({ turn }) => turn)).toEqual([fault.none.includes(platform) ? 'none' : undefined])
      expect(faults.sandbox.agents[platform].seen.turns({ query })).toBe(fault.stored)
    },
  )
})

test('a fault that is proven to store nothing stores nothing', () => {
  expect(TURN_FAULTS.filter(({ none, stored }) => none.length > 0 && stored > 0)).toEqual([])
})

/** Returns the events that the adapter makes of what the emulator sends, without a gateway between them. */
async function askDirectly(
  { agents }: TestedPlatforms,
  platform: TestedPlatform,
  query: string,
): Promise<readonly ChatEvent[]> {
  const { baseUrl, apiKey, options } = agents[platform]
  const adapter = adapterOf(platform)
  const agent = agentOf(platform, { baseUrl, apiKey, options: { ...agentOf(platform).options, ...options } })
  const call = callOf(agent, { query })
  const creation = adapter.createConversation?.(call)
  const created = creation?.read(200, await (await send(creation.request)).json(), () => undefined)
  const derived = adapter.context(agent) === 'client' ? randomBytes(32).toString('hex') : undefined
  const platformConversationId = created && 'ok' in created ? created.ok.platformConversationId : derived
  const asked = { ...call, platformConversationId }
  const response = await send(adapter.buildRequest(asked))
  return read(adapter, asked, {
    name: query,
    bytes: Buffer.from(await response.arrayBuffer()),
    http_status: response.status,
    content_type: response.headers.get('content-type') ?? '',
    extra_headers: Object.fromEntries(response.headers),
    outcome: 'error',
    expect_text: null,
    expect_finish_reason: null,
    expect_usage: null,
  })
}

function send(request: UpstreamRequest): Promise<Response> {
  const { url, method, headers } = request
  return fetch(url, { method, headers, body: textSent(request) })
}
