import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import * as esbuild from 'esbuild'
import * as vite from 'vite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type GatewayWithSandbox, startGatewayWithSandbox } from '../../support/gateway-with-sandbox.ts'
import { type PackedPackage, packPackage } from '../../support/packed-package.ts'
import { RUNTIMES } from '../support/runtimes.ts'

// A process, because other runtimes and bundlers must take the package as it is installed, and reach a gateway with it.

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

/** A file that a bundler has written. */
interface Chunk {
  readonly name: string
  readonly code: string
  readonly isEntry: boolean
  /** The files that are loaded together with this one; others are loaded when they are needed. */
  readonly imports: readonly string[]
}

/**
 * The code of a page as each bundler writes it. A page that loads a part later is built with code splitting; a bundler that writes
 * a single file puts that part into it, too.
 */
const BUNDLERS: Readonly<Record<string, (page: string, options: { splits: boolean }) => Promise<Chunk[]>>> = {
  async vite(page, { splits }) {
    const result = await vite.build({
      configFile: false,
      logLevel: 'silent',
      root: sdk.project,
      // As for a server, because vite adds its own loader (0.8 kB) to a page that loads anything later, whatever it is.
      ...(splits && { ssr: { noExternal: true } }),
      build: {
        write: false,
        ssr: splits,
        minify: true,
        target: 'es2022',
        modulePreload: false,
        rolldownOptions: { input: page, preserveEntrySignatures: 'strict' },
      },
    })
    const outputs = [result].flat().flatMap((built) => ('output' in built ? built.output : []))
    return outputs.flatMap((output) => {
      if (output.type !== 'chunk') return []
      const { fileName: name, code, isEntry, imports } = output
      return [{ name, code, isEntry, imports }]
    })
  },
  async esbuild(page, { splits }) {
    const { outputFiles, metafile } = await esbuild.build({
      absWorkingDir: sdk.project,
      entryPoints: [page],
      bundle: true,
      minify: true,
      format: 'esm',
      target: 'es2022',
      write: false,
      splitting: splits,
      outdir: join(sdk.project, 'out'),
      metafile: true,
    })
    return Object.entries(metafile.outputs).map(([name, { entryPoint, imports }]) => ({
      name,
      code: outputFiles.find(({ path }) => path.endsWith(name))?.text ?? '',
      isEntry: entryPoint === 'page.js',
      imports: imports.flatMap(({ kind, path }) => (kind === 'import-statement' ? [path] : [])),
    }))
  },
}

/** What a page loads before it runs. */
function loadedFirst(chunks: readonly Chunk[]): readonly Chunk[] {
  const names = new Set(chunks.filter(({ isEntry }) => isEntry).map(({ name }) => name))
  // What is added meanwhile is visited, too.
  for (const name of names) {
    for (const each of chunks.find((chunk) => chunk.name === name)?.imports ?? []) names.add(each)
  }
  return chunks.filter(({ name }) => names.has(name))
}

const bytesOf = (chunks: readonly Chunk[]) =>
  chunks.reduce((sum, { code }) => sum + gzipSync(code, { level: 9 }).length, 0)

async function pageWith(entry: string, names = '*'): Promise<string> {
  const page = join(sdk.project, 'page.js')
  await writeFile(page, `export ${names} from '${entry}'`)
  return page
}

describe.each(Object.entries(BUNDLERS))('bundled by %s', (_name, bundle) => {
  test.each([
    ['@trunkline/sdk/chat', 6_000],
    ['@trunkline/sdk/graphql', 4_500],
  ])("a page with everything of '%s' loads at most %i bytes of it, gzipped", async (entry, bytesMax) => {
    const chunks = await bundle(await pageWith(entry), { splits: false })
    const code = chunks.map((chunk) => chunk.code).join('')
    expect(code).toContain('TruncatedStreamError')
    // What kept calls need is no part of it.
    expect(code).not.toMatch(/idempotency|last-event-id|import\(/)
    expect(gzipSync(code, { level: 9 }).length).toBeLessThanOrEqual(bytesMax)
  })

  test('a page with the reader of streams alone loads at most 4,300 bytes, gzipped', async () => {
    const chunks = await bundle(await pageWith('@trunkline/sdk/chat', '{ readChatStream }'), {
      splits: false,
    })
    expect(bytesOf(chunks)).toBeLessThanOrEqual(4_300)
  })

  test('a page with everything loads at most 12,600 bytes at first, 2,200 with the first kept call, and 750 for useChat, gzipped', async () => {
    const chunks = await bundle(await pageWith('@trunkline/sdk'), { splits: true })
    const first = loadedFirst(chunks)
    const later = chunks.filter((chunk) => !first.includes(chunk))
    expect(first.map(({ code }) => code).join('')).toContain('TruncatedStreamError')
    expect(first.filter(({ code }) => code.includes('last-event-id'))).toEqual([])
    expect(bytesOf(first)).toBeLessThanOrEqual(12_600)
    const [ofKeptCalls, ofUseChat] = [/last-event-id/, /message-metadata/].map((word) =>
      later.filter(({ code }) => word.test(code)),
    )
    // Each is one file, so that what they need is in no third one that every page loads.
    expect([ofKeptCalls, ofUseChat, later]).toMatchObject([{ length: 1 }, { length: 1 }, { length: 2 }])
    expect(bytesOf(ofKeptCalls ?? [])).toBeLessThanOrEqual(2_200)
    expect(bytesOf(ofUseChat ?? [])).toBeLessThanOrEqual(750)
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
       ${importing('{ appendFileSync, writeFileSync }', 'node:fs')}
       ${importing('{ createServer }', 'node:http')}
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
      files: ['ENOENT', 'EISDIR', 'FILE_CHANGED'],
      kept: 'Hello',
      agents: expect.any(Number),
      username: system.gateway.admin.username,
    })
  })
})

/** What each runtime does with the package, as an integrator would. */
const PROGRAM = `
/** The text of a kept stream whose first connection is closed after its first event. */
async function keptText() {
  const frames = ['Hel', 'lo'].map((content, index) =>
    'data: ' + JSON.stringify({ id: 'c', choices: [{ index: 0, delta: { content } }] }) + '\\nid: ' + (index + 1) + '\\n\\n')
  frames.push('data: [DONE]\\nid: 3\\n\\n')
  const headers = { 'content-type': 'text/event-stream', 'x-call-id': 'call' }
  const answer = async (url, init) => {
    const after = Number(new Headers(init.headers).get('last-event-id') ?? 0)
    return new Response(init.method === 'POST' ? frames[0] : frames.slice(after).join(''), { headers })
  }
  const { chat } = new Trunkline({ baseURL: 'http://gateway.test', apiKey: 'key', fetch: answer })
  return await chat.stream({ agent: 'dify', query: 'Hello', keep: true }).text()
}
/** Why each of these paths cannot be uploaded. */
async function fileErrors() {
  const grown = 'grown.txt'
  writeFileSync(grown, 'text')
  const server = createServer((request, response) => request.resume().on('end', () => response.end('{"data":{}}')))
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const client = new Trunkline({
    baseURL: 'http://127.0.0.1:' + server.address().port,
    apiKey: 'key',
    async fetch(url, init) {
      appendFileSync(grown, 'more')
      return await fetch(url, init)
    },
  })
  const codes = []
  for (const path of ['none.txt', '.', grown])
    codes.push(await client.uploads.create(path, { created_by: 'ada' }).catch((error) => error.code))
  server.close()
  server.closeAllConnections?.()
  return codes
}
async function main() {
  const { URL: baseURL, KEY: apiKey, TOKEN: accessToken } = process.env
  const client = new Trunkline({ baseURL, apiKey, accessToken, agent: 'fastgpt' })
  const question = { app_id: 'app-1', query: 'Hello' }
  let streamed = ''
  for await (const chunk of client.chat.stream(question)) streamed += chunk.choices[0].delta.content ?? ''
  const reply = await new ChatClient({ baseURL, apiKey, agent: 'fastgpt' }).chat.create(question)
  const failed = await client.chat.create({ ...question, agent: 'nobody' }).catch((error) => error)
  // Kept calls are loaded dynamically, and a broken connection is only noticed by what was loaded.
  const kept = await keptText()
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
    files: await fileErrors(),
    kept,
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
