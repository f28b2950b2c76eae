import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import * as esbuild from 'esbuild'
import * as vite from 'vite'
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

/** The code of a page as each bundler writes it. */
const BUNDLERS: Readonly<Record<string, (page: string) => Promise<string>>> = {
  async vite(page) {
    const result = await vite.build({
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
    return chunks.map((chunk) => (chunk.type === 'chunk' ? chunk.code : '')).join('')
  },
  async esbuild(page) {
    const { outputFiles } = await esbuild.build({
      entryPoints: [page],
      bundle: true,
      minify: true,
      format: 'esm',
      target: 'es2022',
      write: false,
    })
    return outputFiles.map(({ text }) => text).join('')
  },
}

describe.each(Object.entries(BUNDLERS))('bundled by %s', (_name, bundle) => {
  test.each([
    ['@trunkline/sdk', 12_000],
    ['@trunkline/sdk/chat', 6_000],
    ['@trunkline/sdk/graphql', 4_500],
  ])("a page with everything of '%s' loads at most %i bytes of it, gzipped", async (entry, bytesMax) => {
    const page = join(sdk.project, 'page.js')
    await writeFile(page, `export * from '${entry}'`)
    const code = await bundle(page)
    expect(code).toContain('TruncatedStreamError')
    const bytes = gzipSync(code, { level: 9 }).length
    expect(bytes).toBeLessThanOrEqual(bytesMax)
  })
})

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

test('an error of one format is known to the classes of the other', async () => {
  const program = join(sdk.project, 'formats.mjs')
  await writeFile(
    program,
    `import { createRequire } from 'node:module'
     import * as esm from '@trunkline/sdk'
     const cjs = createRequire(import.meta.url)('@trunkline/sdk')
     const [error] = [cjs, esm].map(({ NotFoundError }) => new NotFoundError('gone'))
     console.log(JSON.stringify([
       error instanceof esm.NotFoundError,
       ...['NotFoundError', 'StatusError', 'TrunklineError', 'RateLimitError'].map((name) => esm[name].isInstance(error)),
     ]))`,
  )
  const { stdout } = await run('node', [program], { cwd: sdk.project })
  expect(JSON.parse(stdout)).toEqual([false, true, true, true, false])
})
