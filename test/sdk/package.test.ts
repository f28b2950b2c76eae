import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { build } from 'vite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type GatewayWithSandbox, startGatewayWithSandbox } from '../support/gateway-with-sandbox.ts'
import { type PackedPackage, packPackage } from '../support/packed-package.ts'
import { RUNTIMES } from '../support/runtimes.ts'

const run = promisify(execFile)

let sdk: PackedPackage
let system: GatewayWithSandbox
beforeAll(async () => {
  ;[sdk, system] = await Promise.all([packPackage('sdk'), startGatewayWithSandbox()])
})
afterAll(async () => {
  await system?.remove()
  await sdk?.remove()
})

test.each([
  ['@trunkline/sdk', 12_000],
  ['@trunkline/sdk/chat', 6_000],
])(
  "a page with everything of '%s', minified by its bundler, loads at most %i bytes of it, gzipped",
  async (entry, bytesMax) => {
    const page = join(sdk.project, 'page.js')
    await writeFile(page, `export * from '${entry}'`)
    const result = await build({
      configFile: false,
      logLevel: 'silent',
      root: sdk.project,
      build: {
        write: false,
        target: 'es2022',
        modulePreload: false,
        rolldownOptions: { input: page, preserveEntrySignatures: 'strict' },
      },
    })
    const chunks = [result].flat().flatMap((built) => ('output' in built ? built.output : []))
    const code = chunks.map((chunk) => (chunk.type === 'chunk' ? chunk.code : '')).join('')
    expect(code).toContain('TruncatedStreamError')
    const bytes = gzipSync(code, { level: 9 }).length
    expect(bytes).toBeLessThanOrEqual(bytesMax)
  },
)

describe.each(RUNTIMES)('in $name', ({ command, args, isInstalled }) => {
  test.runIf(isInstalled).each([
    ['ESM', 'mjs', (names: string, entry: string) => `import ${names} from '${entry}'`],
    ['CommonJS', 'cjs', (names: string, entry: string) => `const ${names} = require('${entry}')`],
  ])('what is installed works as %s', async (_format, extension, importing) => {
    const program = join(sdk.project, `program.${extension}`)
    await writeFile(
      program,
      `${importing('{ BadRequestError, Trunkline, TrunklineError }', '@trunkline/sdk')}
       ${importing('{ ChatClient, StatusError }', '@trunkline/sdk/chat')}
       ${importing('{ withGraphQL }', '@trunkline/sdk/graphql')}
       ${PROGRAM}`,
    )
    const env = {
      PATH: process.env.PATH,
      HOME: sdk.project,
      URL: system.gateway.url,
      KEY: system.key,
      TOKEN: system.token,
    }
    const { stdout } = await run(command, [...args, program], { cwd: sdk.project, env })
    expect(JSON.parse(stdout)).toEqual({
      isSame: true,
      refused: ['BadRequestError', true, true, true, 'unknown_agent'],
      cut: 'agent_truncated',
      agents: expect.any(Number),
      username: system.gateway.admin.username,
    })
  })
})

/** What each runtime does with the package, as an integrator would. */
const PROGRAM = `
async function main() {
  const { URL: baseURL, KEY: apiKey, TOKEN: accessToken } = process.env
  const client = new Trunkline({ baseURL, apiKey, accessToken, agent: 'fastgpt' })
  const question = { app_id: 'app-1', query: 'Hello' }
  let streamed = ''
  for await (const chunk of client.chat.stream(question)) streamed += chunk.choices[0].delta.content ?? ''
  const reply = await new ChatClient({ baseURL, apiKey, agent: 'fastgpt' }).chat.create(question)
  const failed = await client.chat.create({ ...question, agent: 'nobody' }).catch((error) => error)
  const cut = client.chat.stream({ ...question, query: 'Hello sandbox:truncate' })
  const { me } = await withGraphQL(client).query('{ me { username } }')
  console.log(JSON.stringify({
    isSame: streamed === reply.choices[0].message.content,
    refused: [
      failed.name,
      failed instanceof BadRequestError,
      failed instanceof StatusError,
      failed instanceof TrunklineError,
      failed.reason,
    ],
    cut: await cut.text().catch((error) => error.reason),
    agents: (await client.agents.list()).items?.length ?? 0,
    username: me.username,
  }))
}
main()`
