import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { parseConfig } from '#config/load.ts'
import type { ChatEvent } from '#core/agents/events.ts'
import { markRejectionHandled } from '#core/base/async/mark-rejection-handled.ts'
import { ANSWERING_AGENT, chatCall, FAILING_AGENT } from '#test/authorization/callers.test-support.ts'
import { type Face, openFace } from '#test/graphql/face.test-support.ts'

/* The agents change while calls run and others arrive. */

const CALLS = 50
const ADDED_AGENT = 'added'

/** A platform that answers with its name; chats wait while it is held. */
class Platform {
  readonly #name: string
  readonly #server: Server
  readonly #held: ServerResponse[] = []
  isHeld = false
  chats = 0
  probes = 0

  constructor(name: string) {
    this.#name = name
    this.#server = createServer((request, response) => {
      request.resume()
      if (request.method === 'GET') {
        this.probes += 1
        response.setHeader('content-type', 'application/json').end('{"data":[]}')
        return
      }
      this.chats += 1
      if (this.isHeld) this.#held.push(response)
      else this.#answer(response)
    })
  }

  async listen(): Promise<void> {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening')
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`
  }

  release(): void {
    this.isHeld = false
    for (const response of this.#held.splice(0)) this.#answer(response)
  }

  close(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }

  #answer(response: ServerResponse): void {
    const choice = { index: 0, message: { content: this.#name }, finish_reason: 'stop' }
    response
      .setHeader('content-type', 'application/json')
      .end(JSON.stringify({ model: 'm', choices: [choice] }))
  }
}

const [before, after] = [new Platform('before'), new Platform('after')]
let face: Face

beforeAll(async () => {
  await Promise.all([before.listen(), after.listen()])
  face = await openFace({ chatsPerMinute: 10_000 })
})
afterAll(async () => {
  await face?.close()
  before.close()
  after.close()
})

/** Serves exactly these agents, each at its platform. */
function serve(agents: Readonly<Record<string, Platform>>): void {
  const entries = Object.entries(agents).map(([id, { baseUrl }]) => [
    id,
    { platform: 'openai', baseUrl, model: 'm' },
  ])
  face.gateway.processTasks.agents.replace(parseConfig({ agents: Object.fromEntries(entries) }, {}).agents)
}

async function ask(agent: string): Promise<string> {
  const { credential } = face.callers['chat key']
  const chat = await face.gateway.services.chat.start(
    chatCall({ credential, endUser: undefined }, agent),
    new AbortController().signal,
  )
  const events: ChatEvent[] = []
  await chat.events.read((batch) => {
    events.push(...batch)
    return undefined
  })
  return events.map((event) => (event.type === 'text' ? event.text : '')).join('')
}

const askTimes = (times: number, agent: string) =>
  Promise.all(Array.from({ length: times }, () => ask(agent)))
const models = async () =>
  (await face.get('chat key', '/api/v1/models')).json().data.map(({ id }: { id: string }) => id)
const statuses = async () => (await face.get('admin', '/api/v1/agents')).json().data.items
const labels = async () => {
  const text = await face.gateway.metrics.text()
  return new Set([...text.matchAll(/trunkline_call\w+\{.*agent="([^"]+)"/g)].map(([, agent]) => agent))
}
const createKey = (agent: string) =>
  face.app.inject({
    method: 'POST',
    url: '/api/v1/api-keys',
    headers: { authorization: `Bearer ${face.callers.admin.credential}` },
    payload: {
      name: 'a key',
      description: '',
      permissions: ['chat'],
      allowed_agents: [agent],
      expires_at: new Date(Date.now() + 3_600_000).toISOString(),
    },
  })

test('calls end with the agent that they began with, and everything else follows the change at once', async () => {
  serve({ [ANSWERING_AGENT]: before, [FAILING_AGENT]: before })
  await ask(FAILING_AGENT)
  expect(await models()).toEqual([ANSWERING_AGENT, FAILING_AGENT])
  await statuses()
  expect(await labels()).toContain(FAILING_AGENT)
  const chatsBefore = before.chats
  const probesBefore = before.probes

  before.isHeld = true
  const begun = markRejectionHandled(askTimes(CALLS, ANSWERING_AGENT))
  await vi.waitFor(() => expect(before.chats).toBe(chatsBefore + CALLS), 30_000)
  // Calls arrive all the time while the agents change.
  const arriving = Array.from({ length: CALLS }, (_, index) => markRejectionHandled(askDuringChange(index)))
  async function askDuringChange(index: number): Promise<string> {
    await new Promise(setImmediate)
    if (index === CALLS / 2) serve({ [ANSWERING_AGENT]: after, [ADDED_AGENT]: after })
    return ask(ANSWERING_AGENT)
  }
  await vi.waitFor(() => expect(before.chats + after.chats).toBe(chatsBefore + 2 * CALLS), 30_000)

  expect(new Set(await askTimes(CALLS, ADDED_AGENT))).toEqual(new Set(['after']))
  await expect(ask(FAILING_AGENT)).rejects.toMatchObject({ reason: 'unknown_agent' })
  expect(await models()).toEqual([ANSWERING_AGENT, ADDED_AGENT])
  expect(await statuses()).toMatchObject([
    { id: ANSWERING_AGENT, status: 'available' },
    { id: ADDED_AGENT, status: 'available' },
  ])
  expect([before.probes, after.probes]).toEqual([probesBefore, 2])
  expect((await createKey(ADDED_AGENT)).statusCode).toBe(200)
  expect((await createKey(FAILING_AGENT)).json()).toMatchObject({ code: 400, reason: 'invalid_request' })
  expect(await labels()).not.toContain(FAILING_AGENT)

  before.release()
  expect(new Set(await begun)).toEqual(new Set(['before']))
  const answers = await Promise.all(arriving)
  expect(new Set(answers)).toEqual(new Set(['before', 'after']))
  expect(after.chats).toBe(answers.filter((answer) => answer === 'after').length + CALLS)
})
