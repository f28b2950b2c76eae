import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type PackedPackage, packPackage } from '../../support/packed-package.ts'
import { RUNTIMES } from '../support/runtimes.ts'

// A process, because other versions of Node must run the package as it is installed.

const run = promisify(execFile)

/** The versions of Node that the package promises; it is no part of what runs in browsers or elsewhere. */
const NODES = RUNTIMES.filter(({ name }) => name.startsWith('Node'))

let sandbox: PackedPackage
beforeAll(async () => {
  sandbox = await packPackage('sandbox')
})
afterAll(async () => {
  await sandbox?.remove()
})

describe.each(NODES)('in $name', ({ command, args, isInstalled }) => {
  test.runIf(isInstalled).each([
    ['ESM', 'mjs', "import { startSandbox } from '@trunkline/sandbox'"],
    ['CommonJS', 'cjs', "const { startSandbox } = require('@trunkline/sandbox')"],
  ])('what is installed emulates every platform, as %s', async (_format, extension, importing) => {
    const program = join(sandbox.project, `program.${extension}`)
    await writeFile(program, `${importing}\n${PROGRAM}`)
    const { stdout } = await run(command, [...args, program], { cwd: sandbox.project })
    expect(JSON.parse(stdout)).toEqual({
      platforms: ['fastgpt', 'hiagent', 'dify', 'coze', 'openai'],
      text: expect.stringContaining('You asked: “Hello”'),
      ended: true,
      state: 'aborted',
    })
  })

  test.runIf(isInstalled)('the command prints addresses that answer, and stops when it is told', async () => {
    const bin = join(sandbox.project, 'node_modules/.bin/trunkline-sandbox')
    const free = ['fastgpt', 'hiagent', 'dify', 'coze', 'openai'].map((platform) => `--${platform}=0`)
    const options = [...free, '--control=0', '--second=dify=0', '--share-state']
    const child = spawn(command, [...args, bin, ...options], { stdio: ['ignore', 'pipe', 'inherit'] })
    let output = ''
    child.stdout.on('data', (chunk) => {
      output += chunk
    })
    while (!/^curl .*chat\/completions/m.test(output)) await once(child.stdout, 'data')
    const [, url = ''] = /'(http:[^']+)' *│ 'sk-sandbox'/.exec(output) ?? []
    const response = await fetch(`${url}/models`, { headers: { authorization: 'Bearer sk-sandbox' } })
    expect(response.status).toBe(200)
    const [, control = ''] = /^curl (\S+\/dify-2\/fail) /m.exec(output) ?? []
    const failed = await fetch(control, { method: 'POST', body: '{"fault":"hang"}' })
    expect(await failed.json()).toEqual({ 'dify-2': 'hang' })
    child.kill('SIGTERM')
    expect(await once(child, 'exit')).toEqual([0, null])
  })

  test.runIf(isInstalled).each([
    [['--second=gemini'], /^--second: expected one of fastgpt, .*, but it is "gemini"\.\n$/],
    [['--delay=soon'], '--delay: expected a whole number from 0 to 60000, but it is "soon".\n'],
    [['--port=1'], /^Unknown option '--port'.*\n$/],
    [['--host=192.0.2.1'], /^listen EADDRNOTAVAIL: address not available 192\.0\.2\.1.*\n$/],
  ])('the command with %j is refused with one line', async (options, message) => {
    const bin = join(sandbox.project, 'node_modules/.bin/trunkline-sandbox')
    const failed = await run(command, [...args, bin, ...options]).catch((error) => error)
    expect([failed.code, failed.stderr]).toEqual([1, expect.stringMatching(message)])
  })
})

/** Asks two of the emulators, and leaves another stream in the middle. */
const PROGRAM = `
async function main() {
  const sandbox = await startSandbox({ delayMs: 0 })
  const { baseUrl, apiKey, appId: model, seen } = sandbox.agents.openai
  const ask = (content, stream, signal) => fetch(baseUrl + '/chat/completions', {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer ' + apiKey },
    body: JSON.stringify({ model, stream, messages: [{ role: 'user', content }] }),
    signal,
  })
  const reply = await (await ask('Hello', false)).json()
  const leaving = new AbortController()
  await ask('sandbox:silence Hello', true, leaving.signal)
  leaving.abort()
  const { state } = await seen.waitFor(({ runs }) => runs.find((run) => run.state === 'aborted'))
  const { coze } = sandbox.agents
  const chat = await fetch(coze.baseUrl + '/v3/chat', {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer ' + coze.apiKey },
    body: JSON.stringify({
      bot_id: coze.appId, user_id: 'ada', stream: true,
      additional_messages: [{ role: 'user', content: 'Hello', content_type: 'text' }],
    }),
  })
  console.log(JSON.stringify({
    platforms: Object.keys(sandbox.agents),
    text: reply.choices[0].message.content,
    ended: (await chat.text()).includes('event:conversation.chat.completed'),
    state,
  }))
  await sandbox.close()
}
main()`
