import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort } from '../../support/free-port.ts'
import { type GatewayWithSandbox, startGatewayWithSandbox } from '../../support/gateway-with-sandbox.ts'
import { WEATHER } from '../../support/models.ts'
import { until } from '../../support/until.ts'

// A process, because the router is a program between Claude Code and the gateway, which finds the latter by its configuration file.

const ROOT = join(import.meta.dirname, '../../..')
const PROGRAM = createRequire(import.meta.url).resolve('@musistudio/claude-code-router/dist/cli.js')

let system: GatewayWithSandbox
let home: string
let url: string
let router: ReturnType<typeof spawn> | undefined

beforeAll(async () => {
  system = await startGatewayWithSandbox({
    agents: ({ dify }) => ({ 'help-desk': { ...dify, tools: 'ignore' } }),
  })
  home = await mkdtemp(join(tmpdir(), 'claude-code-router-'))
  await mkdir(join(home, '.claude-code-router'))
  const port = await freePort()
  const config = { ...(await documentedConfig()), PORT: port, LOG: false }
  await writeFile(join(home, '.claude-code-router/config.json'), JSON.stringify(config))
  const env = { PATH: process.env.PATH ?? '', HOME: home, TRUNKLINE_API_KEY: system.key }
  router = spawn(process.execPath, [PROGRAM, 'start'], { cwd: home, env, stdio: 'ignore' })
  url = `http://127.0.0.1:${port}`
  await until('the router listens', () => fetch(url).catch(() => undefined))
})
afterAll(async () => {
  router?.kill()
  if (router !== undefined && router.exitCode === null) await once(router, 'exit')
  await system?.remove()
  if (home !== undefined) await rm(home, { recursive: true, force: true })
})

async function documentedConfig(): Promise<object> {
  const page = await readFile(join(ROOT, 'docs/tools.md'), 'utf8')
  const [, config = ''] = /^```json ~\/\.claude-code-router\/config\.json\n(.*?)^```/ms.exec(page) ?? []
  expect(config).toContain('http://127.0.0.1:8080/')
  return JSON.parse(config.replace('http://127.0.0.1:8080', system.gateway.url))
}

/** Sends what Claude Code sends: a message with tools. */
function ask(question: string, model = '', stream = false): Promise<Response> {
  const { name, description, parameters } = WEATHER
  return fetch(`${url}/v1/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'anthropic-version': '2023-06-01' },
    body: JSON.stringify({
      // A model that is none of the configuration's is the default one.
      model: model === '' ? 'claude-sonnet-4' : `trunkline,${model}`,
      max_tokens: 1_000,
      stream,
      messages: [{ role: 'user', content: question }],
      tools: [{ name, description, input_schema: parameters }],
    }),
  })
}

test('Claude Code Router gets the answer of an agent that ignores the tools, whole and in pieces', async () => {
  const { content } = (await (await ask('Hello', 'help-desk')).json()) as { content: { text: string }[] }
  const answer = content.map(({ text }) => text).join('')
  expect(answer).toContain('You asked: “Hello”')
  const streamed = await (await ask('Hello', 'help-desk', true)).text()
  const pieces = [...streamed.matchAll(/"type":"text_delta","text":("(?:[^"\\]|\\.)*")/g)]
  expect(pieces.length).toBeGreaterThan(2)
  expect(pieces.map(([, text]) => JSON.parse(`${text}`)).join('')).toBe(answer)
})

test('Claude Code Router calls the tool where the agent takes tools, by the model that it has by default', async () => {
  const { content } = (await (await ask('Please use the tool')).json()) as { content: object[] }
  expect(content).toMatchObject([{ type: 'tool_use', name: WEATHER.name, input: WEATHER.sample }])
})

test('Claude Code Router passes a refusal on, with its reason', async () => {
  const refused = await ask('Hello', 'dify')
  expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining('tools')])
  const filtered = await ask('Hello sandbox:error=filtered', 'help-desk', true)
  expect([filtered.status, await filtered.text()]).toEqual([400, expect.stringContaining('content_filtered')])
})

test('Claude Code Router tells of a failure amid a stream by an event, with its reason', async () => {
  const streamed = await (await ask('Hello sandbox:error-midstream', 'help-desk', true)).text()
  expect(streamed).toMatch(/^event: error\ndata: .*agent_error/m)
})
