import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { makeApiKey } from '@trunkline/gateway/src/core/accounts/keys/key-format.ts'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { chatBody } from '../support/api.ts'
import { type GatewayWithSandbox, startGatewayWithSandbox } from '../support/gateway-with-sandbox.ts'
import { until } from '../support/until.ts'

// A process, because every connection of it is bounded by the process itself.

const CONNECTIONS_MAX = 20
/** Linux answers to every address of this network. */
const OTHER_ADDRESS = '127.0.0.2'
const onServer = process.env.E2E_DATABASE_URL !== undefined && process.env.E2E_DATABASE_URL !== ''

describe.each([1, ...(onServer ? [2] : [])])('connections at their bound, workers: %i', (workers) => {
  let system: GatewayWithSandbox
  let sockets: Socket[] = []

  beforeAll(async () => {
    system = await startGatewayWithSandbox({
      settings: { connectionsMax: CONNECTIONS_MAX },
      env: { WORKERS: String(workers) },
    })
  })
  afterEach(() => {
    for (const socket of sockets) socket.destroy()
    sockets = []
  })
  afterAll(() => system?.remove())

  /** Connections that send this and nothing more, and stay open as long as the gateway lets them. */
  async function open(count: number, head: string): Promise<Socket[]> {
    const { hostname, port } = new URL(system.gateway.url)
    const opened = Array.from({ length: count }, () => connect(Number(port), hostname))
    sockets.push(...opened)
    for (const socket of opened) {
      socket.on('error', () => undefined).resume()
      socket.write(head)
    }
    await Promise.all(opened.map((socket) => once(socket, 'connect')))
    return opened
  }

  /** Sends a request from another address, by default on a connection of its own; undefined if there is no answer. */
  async function fromElsewhere(
    path: string,
    { agent = false, body }: { agent?: Agent | false; body?: string } = {},
  ): Promise<{ status: number | undefined; body: string; isReused: boolean } | undefined> {
    const { hostname, port } = new URL(system.gateway.url)
    const headers = {
      authorization: `Bearer ${system.key}`,
      agent: 'openai',
      ...(body !== undefined && { 'content-type': 'application/json' }),
    }
    const method = body === undefined ? 'GET' : 'POST'
    const sent = request({ hostname, port, path, method, headers, agent, localAddress: OTHER_ADDRESS })
    sent.end(body)
    try {
      const [response] = await once(sent, 'response')
      return { status: response.statusCode, body: await text(response), isReused: sent.reusedSocket }
    } catch {
      return undefined
    }
  }
  const chat = () => fromElsewhere('/api/v1/chat', { body: JSON.stringify(chatBody()) })

  async function closedIdle(): Promise<number> {
    const answer = await fromElsewhere('/metrics')
    return Number(/^trunkline_idle_connections_closed_total (\d+)$/m.exec(answer?.body ?? '')?.[1])
  }

  test('those of one address that wait for the body of an invented key keep nobody of another address out', async () => {
    const head =
      `POST /api/v1/chat HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${makeApiKey(randomBytes)}\r\n` +
      'Content-Type: application/json\r\nContent-Length: 9\r\n\r\n{'
    const agent = new Agent({ keepAlive: true, maxSockets: 1, localAddress: OTHER_ADDRESS })
    try {
      const before = await closedIdle()
      expect((await fromElsewhere('/healthz', { agent }))?.status).toBe(200)
      for (let round = 0; round < 3; round += 1) {
        await open(workers * CONNECTIONS_MAX, head)
        // Those that have just come do not give way.
        const answered = await until('a chat is admitted', async () => {
          const answer = await chat()
          return answer?.status === 200 && answer
        })
        expect(JSON.parse(answered.body)).toMatchObject({ choices: [{}] })
        expect((await fromElsewhere('/healthz'))?.status).toBe(200)
      }
      expect(await closedIdle()).toBeGreaterThan(before)
      // It has been idle for longer than all of them, and is one of few of its address.
      const again = await fromElsewhere('/healthz', { agent })
      expect([again?.status, again?.isReused]).toEqual([200, true])
    } finally {
      agent.destroy()
    }
  })

  test('health is answered while streams take all of them, and further calls are refused', async () => {
    const body = JSON.stringify(chatBody({ query: 'sandbox:silence Hello', stream: true }))
    const head =
      `POST /api/v1/chat HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${system.key}\r\nAgent: openai\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
    await until('all are taken', async () => {
      await open(CONNECTIONS_MAX, head)
      const answers = await Promise.all(Array.from({ length: 4 * workers }, chat))
      return answers.every((answer) => answer?.status === 503)
    })
    for (const path of ['/healthz', '/readyz', '/metrics']) {
      const answers = await Promise.all(Array.from({ length: 4 * workers }, () => fromElsewhere(path)))
      expect(new Set(answers.map((answer) => answer?.status))).toEqual(new Set([200]))
    }
  })
})
