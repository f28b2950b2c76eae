import { randomInt, randomUUID } from 'node:crypto'
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Api, apiOf } from '../support/api.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { type ScriptedPlatform, startScriptedPlatform } from '../support/scripted-platform.ts'
import { canMount } from '../support/small-disk.ts'

// A process, because its /etc/resolv.conf is one of its own, and the threads that resolve names are a process's.

/** So many that those whose names the system looks up would hold its four threads for longer than a test may take. */
const DEAD_CALLS = 8
const PLENTY = { points: 1_000_000 }

// The C library asks name servers on their one port, which only root may open.
describe.skipIf(!canMount)('a name server that does not answer', () => {
  let server: Socket
  let platform: ScriptedPlatform
  let gateway: TestGateway
  let api: Api
  let key: string
  let queries = 0

  beforeAll(async () => {
    server = createSocket('udp4').on('message', () => (queries += 1))
    // An address of its own on the loopback interface, since the port is given.
    const address = `127.${randomInt(1, 255)}.${randomInt(1, 255)}.${randomInt(1, 255)}`
    server.bind(53, address)
    await once(server, 'listening')
    platform = await startScriptedPlatform((_path, _body, response) => {
      response.setHeader('content-type', 'application/json')
      const choices = [{ message: { content: 'Hi' }, finish_reason: 'stop' }]
      response.end(JSON.stringify({ choices }))
    })
    // A slow machine makes so few calls in the time of a breaker that it may open; no call would look for a name then.
    const openai = { platform: 'openai', model: 'm', breaker: false }
    const { port } = new URL(platform.origin)
    const agents = {
      dead: { ...openai, baseUrl: 'http://dead.example/v1' },
      'dead-system': { ...openai, baseUrl: 'http://dead-system.example/v1', names: 'system' },
      // By its name, which the hosts file has.
      alive: { ...openai, baseUrl: `http://localhost:${port}/v1` },
    }
    const limits = {
      chat: PLENTY,
      login: PLENTY,
      loginAddress: PLENTY,
      successfulLogins: PLENTY,
      writes: PLENTY,
      adminWrites: PLENTY,
    }
    gateway = await startGateway({
      config: JSON.stringify({ agents, limits }),
      resolverConfig: `nameserver ${address}\n`,
    })
    api = apiOf(gateway)
    key = (await api.createKey(await api.login())).full_key
  })
  afterAll(async () => {
    await gateway?.remove()
    await platform?.close()
    server?.close()
  })

  test.each(['dead', 'dead-system'])('delays neither chats of other agents nor logins: %s', async (agent) => {
    let isOver = false
    const reasons = new Set<string>()
    /** Keeps a call in progress. */
    const callDead = async () => {
      while (!isOver) {
        const response = await api.chat(key, agent, { chat_id: randomUUID() })
        reasons.add(((await response.json()) as { reason: string }).reason)
      }
    }
    const before = queries
    const dead = Array.from({ length: DEAD_CALLS }, callDead)
    try {
      await expect.poll(() => queries).toBeGreaterThan(before)
      for (let round = 0; round < 5; round += 1) {
        const chat = api.chat(key, 'alive', { chat_id: randomUUID() })
        const [{ status }] = await Promise.all([chat, api.login()])
        expect(status).toBe(200)
      }
    } finally {
      isOver = true
      await Promise.all(dead)
    }
    expect([...reasons]).toEqual(['agent_unreachable'])
  })
})
