import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { ask, get, readJson, textOf } from '../ask.test-support.ts'
import { OUTAGES, type Outage, type Sandbox, type SandboxPlatform, startSandbox } from '../index.ts'

const platforms: readonly SandboxPlatform[] = ['fastgpt', 'hiagent', 'dify', 'coze', 'openai']

let sandbox: Sandbox
beforeAll(async () => {
  sandbox = await startSandbox({ delayMs: 0 })
})
afterAll(() => sandbox.close())
afterEach(() => Promise.all(platforms.map((platform) => sandbox.agents[platform].control.recover())))

const codeOf = async (request: Promise<unknown>) =>
  request.then(
    () => 'answered',
    ({ cause }: { cause?: { code?: string } }) => cause?.code,
  )

describe.each(platforms)('%s', (platform) => {
  const agent = () => sandbox.agents[platform]
  const chat = async () => textOf(platform, await (await ask[platform](agent(), 'sandbox:echo Hello')).text())

  test.each(Object.keys(OUTAGES) as Outage[])('answers as before after %s', async (outage) => {
    const { control } = agent()
    expect(control.outage).toBeUndefined()
    await control.fail(outage)
    expect(control.outage).toBe(outage)
    await control.recover()
    expect([control.outage, await chat()]).toEqual([undefined, 'Hello'])
  })

  test('refuses connections while it is told to', async () => {
    await chat()
    await agent().control.fail('refuse')
    expect(await codeOf(get(agent(), '/'))).toBe('ECONNREFUSED')
    await agent().control.fail('503')
    expect((await get(agent(), '/')).status).toBe(503)
  })

  test.each([
    ['503', 503],
    ['500', 500],
  ] as const)(
    'replies with the page of a proxy and status %s, whatever it is asked',
    async (outage, status) => {
      await agent().control.fail(outage)
      for (const response of [await get(agent(), '/info'), await get(agent(), '/nowhere')]) {
        expect([response.status, response.headers.get('content-type')]).toEqual([status, 'text/html'])
      }
    },
  )

  test('rejects as its own refusals do', async () => {
    const refusals = [
      ['401', 'credentials'],
      ['429', 'rate-limit'],
    ] as const
    for (const [outage, kind] of refusals) {
      const expected = await ask[platform](agent(), `sandbox:error=${kind}`, { stream: false })
      const body = Object.keys(await readJson(expected))
      await agent().control.fail(outage)
      const response = await get(agent(), '/')
      expect([response.status, Object.keys(await readJson(response))]).toEqual([expected.status, body])
      await agent().control.recover()
    }
  })
})

test('an emulator resets the connection of a request that it has read', async () => {
  const { control, seen } = sandbox.agents.openai
  await control.fail('reset')
  const before = seen.requests.length
  expect(await codeOf(ask.openai(sandbox.agents.openai, 'Hello'))).toMatch(/ECONNRESET|UND_ERR_SOCKET/)
  expect(seen.requests.length).toBe(before + 1)
})

test('a request that hangs has been read, begins no run, and ends with its client', async () => {
  const { dify } = sandbox.agents
  const { requests, runs } = { requests: dify.seen.requests.length, runs: dify.seen.runs.length }
  await dify.control.fail('hang')
  const leaving = new AbortController()
  const answer = ask.dify(dify, 'Hello', { signal: leaving.signal }).then(
    () => 'answered',
    (error: Error) => error.name,
  )
  await dify.seen.waitFor((seen) => seen.requests.length === requests + 1)
  leaving.abort()
  expect([await answer, dify.seen.runs.length]).toEqual(['AbortError', runs])
})

test('replies that have begun go on, and their connections bring no further request', async () => {
  const { baseUrl, control, seen } = sandbox.agents.openai
  const { hostname, port } = new URL(baseUrl)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  let received = ''
  socket.on('data', (bytes) => {
    received += bytes
  })
  const send = (query: string) => {
    const body = JSON.stringify({
      model: 'sandbox',
      stream: true,
      messages: [{ role: 'user', content: query }],
    })
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer sk-sandbox\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    )
  }
  send('sandbox:slow=5 sandbox:long=20')
  await seen.waitFor(({ runs }) => runs.at(-1)?.state === 'running')
  await control.fail('refuse')
  while (!received.includes('[DONE]')) await once(socket, 'data')
  const closed = once(socket, 'error')
  send('Hello')
  expect(await closed).toEqual([expect.objectContaining({ code: expect.stringMatching(/ECONNRESET|EPIPE/) })])
})

test('a connection that is used for many requests is watched once', async () => {
  const warnings: string[] = []
  const onWarning = ({ name }: Error) => warnings.push(name)
  process.on('warning', onWarning)
  for (let request = 0; request < 30; request += 1) {
    await (await get(sandbox.agents.openai, '/models')).text()
  }
  process.off('warning', onWarning)
  expect(warnings).toEqual([])
})

test('changes take effect in the order of their calls', async () => {
  const { control } = sandbox.agents.coze
  await Promise.all([control.fail('refuse'), control.recover(), control.fail('refuse'), control.fail('503')])
  expect((await get(sandbox.agents.coze, '/')).status).toBe(503)
})

test('a sandbox that refuses connections can be closed', async () => {
  const other = await startSandbox()
  await other.agents.dify.control.fail('refuse')
  await expect(other.close()).resolves.toBeUndefined()
})

test('the README of the sandbox has the faults of an emulator as they are', async () => {
  const readme = await readFile(new URL('../../README.md', import.meta.url), 'utf8')
  const [, table = ''] = readme.split('| fault ')
  const rows = [
    ...table
      .split('\n\n', 1)
      .join()
      .matchAll(/^\| `(\w+)` +\| (.*?) +\|$/gm),
  ]
  expect(Object.fromEntries(rows.map(([, fault, text]) => [fault, text]))).toEqual(OUTAGES)
})

describe('a second emulator', () => {
  const continued = (id: unknown) => ({ stream: false, body: { conversation_id: id } })

  test('is an installation of its own, which fails alone', async () => {
    const second = await sandbox.startSecond('dify')
    const { dify } = sandbox.agents
    expect([second.apiKey, second.baseUrl === dify.baseUrl]).toEqual([dify.apiKey, false])
    const { conversation_id: id } = await readJson(await ask.dify(dify, 'Hello', { stream: false }))
    expect((await ask.dify(second, 'Again', continued(id))).status).toBe(404)
    expect(second.seen.runs).toEqual([])
    await dify.control.fail('503')
    expect([(await ask.dify(dify, 'Hello')).status, (await ask.dify(second, 'Hello')).status]).toEqual([
      503, 200,
    ])
  })

  test('that shares the state continues conversations, and has the same runs and its own requests', async () => {
    const second = await sandbox.startSecond('dify', { sharesState: true })
    const { dify } = sandbox.agents
    const { conversation_id: id } = await readJson(await ask.dify(dify, 'Hello', { stream: false }))
    await dify.control.fail('refuse')
    const requests = dify.seen.requests.length
    const again = await ask.dify(second, 'Again', continued(id))
    expect(await readJson(again)).toMatchObject({ conversation_id: id })
    expect(dify.seen.requests.length).toBe(requests)
    expect(second.seen.requests.map(({ path }) => path)).toEqual(['/v1/chat-messages'])
    expect(second.seen.runs.filter(({ conversationId }) => conversationId === id)).toHaveLength(2)
    expect(dify.seen.runs).toBe(second.seen.runs)
  })

  test('that shares the state stops runs that the first began, and its log hears of them', async () => {
    const second = await sandbox.startSecond('dify', { sharesState: true })
    const response = await ask.dify(sandbox.agents.dify, 'sandbox:silence Hello')
    const run = await second.seen.waitFor(({ runs }) => runs.find(({ state }) => state === 'running'))
    const stopped = second.seen.waitFor(() => run.state === 'stopped')
    await fetch(`${second.baseUrl}/chat-messages/${run.id}/stop`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${second.apiKey}` },
      body: JSON.stringify({ user: 'ada' }),
    })
    expect(await stopped).toBe(true)
    await response.body?.cancel().catch(() => undefined)
  })
})
