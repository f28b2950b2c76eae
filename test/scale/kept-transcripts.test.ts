import { randomUUID } from 'node:crypto'
import { PLATFORMS } from '@trunkline/gateway/src/core/agents/registry.ts'
import { transcriptsOf } from '@trunkline/gateway/src/core/agents/transcripts.test-support.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Replay, replayOf, startReplay } from '../conformance/replay.ts'
import { eventsOf, KEPT_FACES, type KeptFace, withoutComments } from '../support/kept-calls.ts'
import { type KeptReplicas, startKeptReplicas } from '../support/kept-replicas.ts'
import { untilServed } from '../support/until-served.ts'

// A process, because a reply is read at two replicas, which share nothing but a database.

const server = process.env.E2E_DATABASE_URL ?? ''
const FOLDERS = new URL('../../apps/gateway/src/core/agents/platforms/', import.meta.url)

/** What an entry of each platform needs beside its address. */
const OPTIONS: Readonly<Record<string, object>> = {
  openai: { model: 'm' },
  coze: { botId: 'b' },
  a2a: {
    card: {
      supportedInterfaces: [{ url: 'rpc', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
      capabilities: { streaming: true },
    },
  },
}

const agentOf = (platform: string) => `${platform}-replay`

describe.skipIf(server === '')('two replicas, and a platform that repeats what was recorded', () => {
  let replay: Replay
  let replicas: KeptReplicas

  beforeAll(async () => {
    replay = await startReplay(FOLDERS)
    const agents = PLATFORMS.names.map((platform) => {
      const entry = { platform, baseUrl: replay.origin, apiKey: 'none', breaker: false, ...OPTIONS[platform] }
      return [agentOf(platform), { ...entry, timeouts: { firstByteMs: 300, idleMs: 300 } }] as const
    })
    replicas = await startKeptReplicas(server, [{}, {}], { agents: Object.fromEntries(agents) })
  })
  afterAll(async () => {
    await replicas?.remove()
    await replay?.close()
  })

  /**
   * A reply as the first client gets it, and after each of its events as a client of the other replica gets it. Returns how many
   * events it has; 0 if the call was refused.
   */
  async function expectSameOf(face: KeptFace, platform: string, name: string): Promise<number> {
    const [one, other] = [replicas.client(0), replicas.client(1)]
    const key = randomUUID()
    const question = { agent: agentOf(platform), query: replayOf(name, '64', 'kept'), stream: true }
    const response = await one.ask(face, key, question)
    const callId = response.headers.get('x-call-id')
    const text = withoutComments(await response.text())
    const what = `${face} ${name}`
    if (response.status !== 200 || callId === null) return 0
    const again = await untilServed(() => other.ask(face, key, question))
    expect(withoutComments(await again.text()), what).toBe(text)
    const events = eventsOf(text)
    expect(
      events.map((event) => /^id: (\d+)$/m.exec(event)?.[1]),
      what,
    ).toEqual(events.map((_, index) => String(index + 1)))
    const resumed = await Promise.all(
      events.map(async (_, index) => {
        const rest = await untilServed(() => other.resume(callId, { lastEventId: index }))
        return events.slice(0, index).join('') + withoutComments(await rest.text())
      }),
    )
    for (const joined of resumed) expect(joined, what).toBe(text)
    return events.length
  }

  // What is kept is the text of a face, which does not depend on the platform, so each reply is read on the next face in turn.
  test.each(PLATFORMS.names)(
    'every reply of %s is the same wherever it is cut',
    { timeout: 120_000 },
    async (platform) => {
      const transcripts = [...transcriptsOf(platform), ...transcriptsOf('generic')]
      const replies = transcripts.filter(({ outcome }) => outcome !== 'aux')
      const whole: KeptFace[] = []
      for (const [index, { name }] of replies.entries()) {
        const face = KEPT_FACES[index % KEPT_FACES.length] ?? 'chat'
        if ((await expectSameOf(face, platform, name)) > 1) whole.push(face)
      }
      expect(new Set(whole)).toEqual(new Set(KEPT_FACES))
    },
  )
})
