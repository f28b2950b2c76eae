import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { until } from '../support/until.ts'

// A process, because the connections of several processes on one port are looked at while one of them is killed or stopped.

const WORKERS = 2

describe.skipIf(process.env.E2E_DATABASE_URL === undefined)('connections of workers', () => {
  let gateway: TestGateway

  beforeAll(async () => {
    gateway = await startGateway({ env: { WORKERS: String(WORKERS) } })
    await listening(WORKERS)
  })
  afterAll(() => gateway?.remove())

  /** Waits until so many workers have listened since the start, and returns the process ids of all. */
  const listening = (count: number) =>
    until(`${count} workers have listened`, () => {
      const lines = gateway.output.split('\n').filter((line) => line.includes('"msg":"listening"'))
      return lines.length >= count && lines.map((line) => (JSON.parse(line) as { pid: number }).pid)
    })

  const living = () => {
    const children = readFileSync(`/proc/${gateway.pid}/task/${gateway.pid}/children`, 'utf8')
    return children.trim().split(' ').map(Number)
  }

  /** Sends a request on a connection of its own. `text` is what has come, and `isOver` says that nothing more will. */
  function ask() {
    const { hostname, port } = new URL(gateway.url)
    const socket: Socket = connect(Number(port), hostname)
    const asked = { socket, text: '', error: undefined as Error | undefined, isOver: false }
    socket.write('GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
    socket.on('data', (bytes) => {
      asked.text += bytes.toString()
    })
    socket.on('error', (error) => {
      asked.error = error
    })
    socket.on('close', () => {
      asked.isOver = true
    })
    return asked
  }

  /** Not `once`, which a reset would reject. */
  async function over({ socket, isOver }: ReturnType<typeof ask>): Promise<void> {
    if (!isOver) await new Promise((resolve) => socket.once('close', resolve))
  }

  /** How many health checks all workers have served, also those that have ended. */
  async function served(): Promise<number> {
    const metrics = await fetch(`${gateway.url}/metrics`, { headers: { connection: 'close' } })
    const line = /^trunkline_http_requests_total\{route="\/healthz",method="GET",status="200"\} (\d+)$/m
    return Number(line.exec(await metrics.text())?.[1])
  }

  test('a connection that was on its way to a worker that is killed ends with it', async () => {
    for (let round = 0; round < 20; round += 1) await over(ask())
    const before = await served()
    const [stuck = 0] = living()
    process.kill(stuck, 'SIGSTOP')
    // The primary gives each worker one connection, and another when the worker has taken it.
    const asked = Array.from({ length: 3 * WORKERS }, ask)
    await until(
      'all but one are answered',
      () => asked.filter(({ isOver }) => isOver).length === asked.length - 1,
    )
    const waiting = asked.find(({ isOver }) => !isOver)
    expect(waiting?.text).toBe('')
    process.kill(stuck, 'SIGKILL')
    if (waiting !== undefined) await over(waiting)
    expect(waiting?.text).toBe('')
    const answered = asked.filter((one) => one !== waiting)
    expect(answered.every(({ text }) => text.startsWith('HTTP/1.1 200'))).toBe(true)
    await listening(WORKERS + 1)
    // The counts of the dead worker are known to have ended, although a connection was on its way to it.
    expect(await served()).toBeGreaterThanOrEqual(before)
  })

  test('a worker that is told to end resets no connection, while others go on', async () => {
    const [ending = 0] = living()
    const all: ReturnType<typeof ask>[] = []
    const askMany = async () => {
      const asked = Array.from({ length: 20 }, ask)
      all.push(...asked)
      await until('all have ended', () => asked.every(({ isOver }) => isOver))
    }
    await askMany()
    process.kill(ending, 'SIGTERM')
    await until('it has ended', async () => {
      await askMany()
      return !living().includes(ending)
    })
    await askMany()
    const answers = Map.groupBy(all, ({ text, error }) => error?.message ?? text.slice(0, 12))
    expect([...answers.keys()]).toEqual(['HTTP/1.1 200'])
  })
})
