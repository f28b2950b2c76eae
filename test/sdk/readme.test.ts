import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { chatSnippets, uploadSnippets } from '../../apps/console/src/code/snippets.ts'
import { namedExamples, typeErrors, writeExamples } from '../support/examples.ts'
import { freePort } from '../support/free-port.ts'
import { type GatewayWithSandbox, startGatewayWithSandbox } from '../support/gateway-with-sandbox.ts'
import { type PackedPackage, packPackage } from '../support/packed-package.ts'

// A process, because readers copy the examples beside an installed package and run them.

const run = promisify(execFile)
const ROOT = join(import.meta.dirname, '../..')
const readme = await readFile(join(ROOT, 'packages/sdk/README.md'), 'utf8')

const EXAMPLES = namedExamples(readme)

/** What each program prints; the others export something, which a test of its own calls. */
const PROGRAMS: Readonly<Record<string, RegExp>> = {
  'create-key.ts': /^tl_\w+\n$/,
  'first-stream.ts': /\w.*\{.*total_tokens: \d+/s,
  'kept-stream.ts': /\w/,
  'resume.ts': /\w.*\ntrue done\n$/s,
  'conversation.ts': /Ada.*\n[\w-]{36}\n$/s,
  'continue.ts': /Ada/,
  'pause.ts': /确认/,
  'usage.ts': /calls: \d+/,
  'errors.ts': /^BadRequestError 400 unknown_agent\n$/,
  'options.ts': /\w/,
  'graphql.ts': /'fastgpt'/,
  'replay.test.ts': /^. pass 1$/m,
  'chat.test.ts': /^. pass 4$/m,
  'upload.ts': /notes\.txt \(\d+ bytes/,
}
const MODULES = ['route.ts', 'page.ts', 'start-gateway.ts']

let system: GatewayWithSandbox
let sdk: PackedPackage
let home: string
let env: Record<string, string>

beforeAll(async () => {
  ;[system, sdk] = await Promise.all([startGatewayWithSandbox(), packPackage('sdk', 'sandbox')])
  const key = await system.api.createKey(system.token, { permissions: ['chat', 'upload'] })
  env = {
    PATH: process.env.PATH ?? '',
    TRUNKLINE_URL: system.gateway.url,
    TRUNKLINE_API_KEY: key.full_key,
    TRUNKLINE_PASSWORD: system.gateway.admin.password,
    TRUNKLINE_CHECKOUT: ROOT,
    TRUNKLINE_TEST_PORT: String(await freePort()),
  }
  home = await writeExamples(sdk.project, EXAMPLES)
  await writeFile(join(home, 'notes.txt'), 'Ada wrote the first program.')
})
afterAll(async () => {
  vi.unstubAllGlobals()
  vi.unstubAllEnvs()
  await system?.remove()
  await sdk?.remove()
})

test('every example of the README is run', () => {
  expect([...Object.keys(PROGRAMS), ...MODULES].sort()).toEqual([...EXAMPLES.keys()].sort())
})

test("the examples of the SDK's README have the types of the package", async () => {
  expect(await typeErrors(home)).toBe('')
})

test.each([...EXAMPLES.keys()].filter((name) => !MODULES.includes(name)))(
  "the example %s of the SDK's README runs",
  { timeout: 180_000 },
  async (name) => {
    // One of them starts a gateway on an empty database, which takes long where the machine is busy.
    const { stdout } = await run(process.execPath, [name], { cwd: home, env })
    expect(stdout).toMatch(PROGRAMS[name] ?? /^$/)
  },
)

test('what the console shows as code for this package runs as it is', async () => {
  const { TRUNKLINE_URL: baseURL = '', TRUNKLINE_API_KEY: apiKey = '' } = env
  const chat = { agent: 'fastgpt', app: 'demo', conversationId: '', query: 'Hello', files: [], detail: false }
  const snippets = {
    'chat.mjs': chatSnippets({ ...chat, baseURL, apiKey }).sdk,
    'upload.mjs': uploadSnippets({ baseURL, apiKey }).sdk,
  }
  for (const [name, code] of Object.entries(snippets)) {
    await writeFile(join(home, name), code)
    const { stdout } = await run(process.execPath, [name], { cwd: home, env: { PATH: env.PATH ?? '' } })
    expect(stdout).toMatch(name === 'chat.mjs' ? /\w/ : /^http.*notes\.txt/)
  }
})

test('the route handler streams a chat to the page, without the key', async () => {
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value)
  const load = (name: string) => import(/* @vite-ignore */ pathToFileURL(join(home, name)).href)
  const { POST } = await load('route.ts')
  vi.stubGlobal('fetch', fetchOf(POST))
  const { ask } = await load('page.ts')
  const texts: string[] = []
  await ask('Hello', (text: string) => texts.push(text))
  const reply = await system.api.chat(system.key, 'fastgpt', { chat_id: '' })
  const { choices } = (await reply.json()) as { choices: [{ message: { content: string } }] }
  expect(texts.join('')).toBe(choices[0].message.content)
  expect(texts.length).toBeGreaterThan(2)
})

/** As a page sees it: its own server answers under `/api/chat`, by the route handler. */
function fetchOf(handler: (request: Request) => Promise<Response>): typeof fetch {
  const real = globalThis.fetch
  return async (input, init) =>
    input === '/api/chat' ? handler(new Request('http://page.test/api/chat', init)) : real(input, init)
}
