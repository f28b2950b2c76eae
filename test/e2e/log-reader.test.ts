import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach, describe, expect, test } from 'vitest'
import { type GatewayOptions, startGateway, type TestGateway } from '../support/gateway.ts'
import { until } from '../support/until.ts'

// A process, because its output is a pipe or a socket that is not read, or that is closed.

/** The longest accepted request id, so that each request produces a long log line. */
const REQUEST_ID = 'x'.repeat(128)
const AT_ONCE = 250

/** The kind of an output decides how a process writes, and the number of workers how many do. Several need a database server. */
const outputs = [
  { count: 1, kind: 'pipe', isPiped: true },
  { count: 1, kind: 'socket', isPiped: false },
  ...(process.env.E2E_DATABASE_URL === undefined ? [] : [{ count: 2, kind: 'pipe', isPiped: true }]),
]

let gateway: TestGateway
afterEach(() => gateway?.remove())

const open = async (options: GatewayOptions, count: number) => {
  gateway = await startGateway({ ...options, env: { ...options.env, WORKERS: String(count) } })
  if (count > 1) await until('all listen', () => gateway.output.match(/"msg":"listening"/g)?.length === count)
}

/** Sends requests pipelined on one connection, which costs this process very little. */
const request = async (count = 1) => {
  const { hostname, port } = new URL(gateway.url)
  const socket = connect(Number(port), hostname)
  const head = ['GET /healthz HTTP/1.1', 'host: a', `x-request-id: ${REQUEST_ID}`]
  socket.write(
    [...Array(count - 1).fill(head), [...head, 'connection: close']]
      .map((lines) => `${lines.join('\r\n')}\r\n\r\n`)
      .join(''),
  )
  const answers = await text(socket)
  expect(answers.match(/HTTP\/1\.1 200 /g)).toHaveLength(count)
}

const droppedLines = async () => {
  const metrics = await fetch(`${gateway.url}/metrics`).then((response) => response.text())
  return Number(/^trunkline_log_lines_dropped_total (\d+)$/m.exec(metrics)?.[1])
}

const REPORT = 'log lines were dropped because standard output did not accept them'

/** Sends requests until the reader, the pipe and the buffers are full. */
const flood = async () => {
  const before = await droppedLines()
  await until('lines are dropped', async () => {
    await Promise.all([request(AT_ONCE), request(AT_ONCE)])
    return (await droppedLines()) > before
  })
}

/** The last line may still be incomplete. */
const parse = (output: string) =>
  output
    .split('\n')
    .slice(0, -1)
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line))

describe.each(outputs)('with WORKERS=$count, into a $kind', ({ count, isPiped }) => {
  test('a paused reader does not block the gateway, and dropped lines are counted and reported', async () => {
    await open({ isPiped }, count)
    gateway.pauseOutput()
    await flood()
    await request()

    gateway.resumeOutput()
    await until('the gap is reported', () => gateway.output.includes(REPORT))
    const reported = parse(gateway.output).filter(({ msg }) => msg === REPORT)
    for (const { level, dropped } of reported) {
      expect(level).toBe('warn')
      expect(dropped).toBeGreaterThan(0)
    }

    gateway.pauseOutput()
    await flood()
    expect(await gateway.stop()).toBe(0)
  })

  test('the last lines before the exit are written, and no line is truncated', async () => {
    await open({ isPiped }, count)
    await Promise.all([request(AT_ONCE), request(AT_ONCE)])
    expect(await gateway.stop()).toBe(0)
    const lines = await until('the last line is read', () => {
      const messages = parse(gateway.output).map(({ msg }) => msg)
      return messages.filter((msg) => msg === 'stopped').length === count && messages
    })
    expect(lines.filter((msg) => msg === 'request')).toHaveLength(2 * AT_ONCE)
  })
})

test('a reader that closes the pipe does not stop the gateway', async () => {
  gateway = await startGateway({ isPiped: true })
  gateway.closeOutput()
  for (let round = 0; round < 5; round += 1) await request()
  expect(await gateway.stop()).toBe(0)
})
