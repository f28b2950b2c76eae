// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the file's own syntax
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { rename, writeFile } from 'node:fs/promises'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { json } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type Api, apiOf } from '../support/api.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { until } from '../support/until.ts'

// A process, because it reads a file, gets a signal, and calls run in it meanwhile.

/** A platform whose answer is its name and the key that it was sent. */
interface NamedPlatform {
  readonly baseUrl: string
  /** The replies that wait, for the question `wait`. */
  readonly waiting: (() => void)[]
  close(): void
}

async function startNamed(name: string): Promise<NamedPlatform> {
  const waiting: (() => void)[] = []
  const server: Server = createServer(async (request, response) => {
    if (request.method === 'GET') return void response.end('{"data":[]}')
    const { messages } = (await json(request)) as { messages: { content: string }[] }
    const send = () => answer(response, `${name} ${request.headers.authorization}`)
    if (messages.at(-1)?.content === 'wait') waiting.push(send)
    else send()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    waiting,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

function answer(response: ServerResponse, content: string): void {
  const choice = { index: 0, message: { content }, finish_reason: 'stop' }
  response
    .setHeader('content-type', 'application/json')
    .end(JSON.stringify({ model: 'm', choices: [choice] }))
}

let one: NamedPlatform
let two: NamedPlatform
let gateway: TestGateway
let api: Api
let token: string
let key: string

const entryAt = ({ baseUrl }: NamedPlatform, more: object = {}) => ({
  platform: 'openai',
  baseUrl,
  model: 'm',
  ...more,
})
const FIRST = { limits: { chat: { points: 10_000 } } }

/** Writes the file as editors and mounted volumes do: readers see the one before or all of this one. */
async function write(agents: object, more: object = FIRST): Promise<void> {
  await writeFile(`${gateway.configFile}.new`, JSON.stringify({ agents, ...more }))
  await rename(`${gateway.configFile}.new`, gateway.configFile)
}
const reload = (credential = token) => api.call('POST', '/api/v1/configuration/reload', { token: credential })
async function ask(agent: string, query = 'Hello') {
  const response = await api.chat(key, agent, { query })
  // biome-ignore lint/suspicious/noExplicitAny: replies are read as they come
  const body: any = await response.json()
  return body.choices?.[0]?.message.content ?? body.reason
}

beforeAll(async () => {
  one = await startNamed('one')
  two = await startNamed('two')
  gateway = await startGateway({ config: JSON.stringify({ agents: { demo: entryAt(one) }, ...FIRST }) })
  api = apiOf(gateway)
  token = await api.login()
  key = (await api.createKey(token)).full_key
})
beforeEach(async () => {
  await write({ demo: entryAt(one) })
  await reload()
})
afterAll(async () => {
  await gateway?.remove()
  one?.close()
  two?.close()
})

test('calls go on with the agent that they began with, and the next ones get the other', async () => {
  const before = ask('demo', 'wait')
  await until('the call is at the platform', async () => one.waiting.length === 1)
  await write({ demo: entryAt(two), added: entryAt(two) })
  const { status, body } = await reload()
  expect([status, body.data.changed, body.data.needs_restart]).toEqual([
    200,
    ['agents.demo', 'agents.added'],
    [],
  ])
  expect(await ask('demo')).toMatch(/^two/)
  expect(await ask('added')).toMatch(/^two/)
  one.waiting.pop()?.()
  expect(await before).toMatch(/^one/)
  await write({ demo: entryAt(two) })
  await reload()
  expect(await ask('added')).toBe('unknown_agent')
})

test('the key of a platform is read from its file at each reload', async () => {
  const file = join(dirname(gateway.configFile), 'platform-key')
  await writeFile(file, 'sk-fake-one\n')
  await write({ demo: entryAt(one, { apiKey: '${file:platform-key}' }) })
  await reload()
  expect(await ask('demo')).toBe('one Bearer sk-fake-one')
  await writeFile(file, 'sk-fake-two\n')
  expect(await ask('demo')).toBe('one Bearer sk-fake-one')
  const { body } = await reload()
  expect(body.data.changed).toEqual(['agents.demo'])
  expect(JSON.stringify(body)).not.toContain('sk-fake')
  expect(await ask('demo')).toBe('one Bearer sk-fake-two')
})

test.each([
  ['YAML', 'agents: [', /gateway\.config\.yaml:1:/],
  [
    'a property',
    JSON.stringify({ agents: { demo: { platform: 'openai', modle: 'm' } } }),
    /agents\.demo\.modle: unknown property/,
  ],
  ['no agent', JSON.stringify({ agents: {} }), /agents: expected one at least/],
  [
    'a variable',
    JSON.stringify({ agents: { demo: { platform: 'dify', apiKey: '${NOT_SET}' } } }),
    /agents\.demo\.apiKey: .*NOT_SET is not set/,
  ],
])('a mistake in %s is named with its place, twice, and changes nothing', async (_name, text, detail) => {
  await writeFile(gateway.configFile, text)
  for (const _try of [1, 2])
    expect(await reload()).toMatchObject({
      status: 422,
      body: { reason: 'configuration_invalid', detail: expect.stringMatching(detail) },
    })
  expect(await gateway.trunkline('reload')).toMatchObject({ code: 1, output: expect.stringMatching(detail) })
  expect(await ask('demo')).toMatch(/^one/)
  const { body } = await api.call('GET', '/api/v1/processes?state=live', { token })
  expect(body.data.items).toMatchObject([{ configuration: { state: 'current', error: null } }])
})

test('limits are changed, and what needs a restart is named each time and stays', async () => {
  await write({ demo: entryAt(one) }, { limits: { chat: { points: 2 } }, uploads: { maxBytes: 1_000 } })
  const own = (await api.createKey(token)).full_key
  for (const changed of [['limits.chat.points'], []])
    expect((await reload()).body.data).toMatchObject({ changed, needs_restart: ['uploads.maxBytes'] })
  const statuses = []
  for (let call = 0; call < 3; call += 1) statuses.push((await api.chat(own, 'demo')).status)
  expect(statuses).toEqual([200, 200, 429])
  await write({ demo: entryAt(one) })
  await reload()
  expect((await api.chat(own, 'demo')).status).toBe(200)
})

test('the signal and the command do the same, and each is in the audit log with who asked', async () => {
  await write({ demo: entryAt(two) })
  process.kill(gateway.pid, 'SIGHUP')
  await until('the signal was followed', async () => (await ask('demo')).startsWith('two'))
  await write({ demo: entryAt(one), another: entryAt(one) })
  const command = await gateway.trunkline('reload')
  expect(command).toMatchObject({
    code: 0,
    output: expect.stringMatching(/Changed: agents\.demo, agents\.another/),
  })
  await until('the command was followed', async () => (await ask('demo')).startsWith('one'))
  await write({ demo: entryAt(two) })
  await reload()
  const { body } = await api.call('GET', '/api/v1/audit?operation=configuration.reload&limit=3', { token })
  expect(body.data.items.map(({ actor }: { actor: string }) => actor)).toEqual([
    'token',
    'command',
    'gateway',
  ])
})

test('a signal with a mistake in the file leaves the process as it is, and is logged', async () => {
  await writeFile(gateway.configFile, '{}')
  process.kill(gateway.pid, 'SIGHUP')
  await gateway.prints(/agents: expected one at least.*the configuration is not reloaded/)
  expect(await ask('demo')).toMatch(/^one/)
})

test('a pipe in the place of the file, or of a secret, is refused, and the process goes on', async () => {
  const pipe = join(dirname(gateway.configFile), 'pipe')
  execFileSync('mkfifo', [pipe])
  await write({ demo: entryAt(one, { apiKey: `\${file:${pipe}}` }) })
  expect(await reload()).toMatchObject({
    status: 422,
    body: { detail: expect.stringMatching(/^agents\.demo\.apiKey: cannot read \S+pipe \(it is a pipe/) },
  })
  await rename(pipe, gateway.configFile)
  expect(await reload()).toMatchObject({
    status: 422,
    body: { detail: expect.stringMatching(/cannot be read \(it is a pipe/) },
  })
  process.kill(gateway.pid, 'SIGHUP')
  await gateway.prints(/it is a pipe.*the configuration is not reloaded/)
  expect(await ask('demo')).toMatch(/^one/)
})

test('only administrators may reload, and others are refused twice', async () => {
  for (const _try of [1, 2])
    expect(await reload(key)).toMatchObject({ status: 403, body: { reason: 'permission_denied' } })
})

test('a sandbox has no file to reload', async () => {
  const sandbox = await startGateway()
  try {
    const own = apiOf(sandbox)
    const answered = await own.call('POST', '/api/v1/configuration/reload', { token: await own.login() })
    expect(answered).toMatchObject({ status: 422, body: { reason: 'configuration_invalid' } })
    expect(answered.body.detail).toContain('a file needs a restart')
  } finally {
    await sandbox.remove()
  }
})
