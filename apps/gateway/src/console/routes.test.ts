import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib'
import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseConfig } from '#config/load.ts'
import { systemRuntime } from '#core/base/runtime.ts'
import type { Database } from '#core/database/database.ts'
import { openScratchDatabase } from '#core/database/scratch-database.test-support.ts'
import { createLogger } from '#ops/logger.ts'
import { createServer } from '#server/create-server.ts'
import { createGateway, type Gateway } from '../composition/gateway.ts'
import { type BuiltConsole, readBuiltConsole } from './built-console.ts'

const AGENTS = { openai: { baseUrl: 'http://127.0.0.1:9', model: 'm' } }
const PAGE = `<!doctype html><title>Trunkline</title>${' '.repeat(500)}`
const SCRIPT = `console.log('${'x'.repeat(500)}')`
const FONT = Buffer.from([0x77, 0x4f, 0x46, 0x32])
const ME = 'query Me { me { id } }'

let folder: string
let database: Database
/** It never completes its start. */
let gateway: Gateway
let app: FastifyInstance

const serverWith = (settings: object, builtConsole?: BuiltConsole) =>
  createServer(
    parseConfig({ agents: AGENTS, ...settings }, {}),
    gateway,
    createLogger('silent'),
    builtConsole,
  )

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'console-'))
  const write = (name: string, content: string | Buffer) => {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), content)
  }
  for (const [name, text] of [
    ['files/index.html', PAGE],
    ['files/assets/index-1a2b.js', SCRIPT],
  ] as const) {
    write(name, text)
    write(`${name}.br`, brotliCompressSync(text))
    write(`${name}.gz`, gzipSync(text))
  }
  write('files/assets/inter-3c4d.woff2', FONT)
  write('files/robots.txt', 'User-agent: *')
  write('persisted-documents.json', JSON.stringify({ abc: ME }))
  write('stamp', 'not served')

  database = await openScratchDatabase()
  const config = parseConfig({ agents: AGENTS }, {})
  gateway = await createGateway({ config, database, runtime: systemRuntime, log: createLogger('silent') })
  app = await serverWith({}, readBuiltConsole(folder))
})
afterAll(async () => {
  await app?.close()
  await gateway?.close()
  await database?.close()
  rmSync(folder, { recursive: true, force: true })
})

const get = (url: string, headers: Record<string, string> = {}) => app.inject({ url, headers })

describe('the page of the console', () => {
  test.each([
    '/console',
    '/console/',
    '/console/index.html',
    '/console/usage?from=2026-11-01',
    '/console/calls/01a1',
  ])(
    'is served at %s, before the start is complete, with a policy that allows no inline script or style',
    async (url) => {
      const { statusCode, headers, body } = await get(url)
      expect([statusCode, body]).toEqual([200, PAGE])
      expect(headers).toMatchObject({
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'no-cache',
        'referrer-policy': 'no-referrer',
        'cross-origin-opener-policy': 'same-origin',
        'x-content-type-options': 'nosniff',
        etag: expect.stringMatching(/^"[\w-]+"$/),
      })
      const policy = String(headers['content-security-policy'])
      expect(policy).not.toContain('unsafe')
      expect(policy.split('; ')).toEqual(
        expect.arrayContaining([
          "default-src 'none'",
          "script-src 'self'",
          "style-src 'self'",
          "frame-ancestors 'none'",
        ]),
      )
    },
  )

  test('is not sent again to a client that has it, in any coding', async () => {
    for (const coding of ['identity', 'gzip', 'br']) {
      const accept = { 'accept-encoding': coding }
      const { etag = '' } = (await get('/console', accept)).headers
      const again = await get('/console', { ...accept, 'if-none-match': etag })
      expect([again.statusCode, again.body, again.headers.etag]).toEqual([304, '', etag])
    }
  })

  test('has another entity tag in each coding, because a cache may hold them all', async () => {
    const tags = await Promise.all(
      ['identity', 'gzip', 'br'].map(
        async (coding) => (await get('/console', { 'accept-encoding': coding })).headers.etag,
      ),
    )
    expect(new Set(tags).size).toBe(3)
  })

  test('answers HEAD with the headers of GET and no body, and refuses other methods', async () => {
    const head = await app.inject({ method: 'HEAD', url: '/console/keys' })
    expect([head.statusCode, head.body, head.headers['content-length']]).toEqual([
      200,
      '',
      String(PAGE.length),
    ])
    const post = await app.inject({ method: 'POST', url: '/console/keys' })
    expect([post.statusCode, post.headers.allow]).toEqual([405, 'GET, HEAD'])
  })
})

describe('a file of the console', () => {
  const ASSET = '/console/assets/index-1a2b.js'

  test('is sent in the coding that the client accepts, and caches keep the codings apart', async () => {
    const read = { br: brotliDecompressSync, gzip: gunzipSync }
    for (const coding of ['br', 'gzip'] as const) {
      const { headers, rawPayload } = await get(ASSET, { 'accept-encoding': coding })
      expect(read[coding](rawPayload).toString()).toBe(SCRIPT)
      expect(headers).toMatchObject({
        'content-type': 'text/javascript; charset=utf-8',
        'content-encoding': coding,
        'content-length': String(rawPayload.length),
        vary: expect.stringMatching(/\bAccept-Encoding$/),
      })
    }
    const plain = await get(ASSET)
    expect([plain.body, plain.headers['content-encoding']]).toEqual([SCRIPT, undefined])
    expect(plain.headers.vary).toMatch(/\bAccept-Encoding$/)
  })

  test('with a hash in its name is kept for ever, and no other', async () => {
    const forever = 'public, max-age=31536000, immutable'
    const font = await get('/console/assets/inter-3c4d.woff2', { 'accept-encoding': 'br' })
    expect([font.headers['content-type'], font.headers['cache-control']]).toEqual(['font/woff2', forever])
    expect(font.rawPayload).toEqual(FONT)
    expect((await get(ASSET)).headers['cache-control']).toBe(forever)
    const other = await get('/console/robots.txt')
    expect([other.body, other.headers['cache-control']]).toEqual(['User-agent: *', 'no-cache'])
  })

  test('that does not exist among the assets is 404, never the page', async () => {
    for (const url of ['/console/assets/index-0000.js', '/console/assets/index-1a2b.js.br']) {
      const { statusCode, headers, body } = await get(url)
      expect([statusCode, JSON.parse(body).reason], url).toEqual([404, 'route_not_found'])
      expect(headers['cache-control']).toBe('no-store')
    }
  })

  test.each([
    '/console/../persisted-documents.json',
    '/console/%2e%2e/stamp',
    '/console/..%2fstamp',
    '/console/assets/..%2f..%2fstamp',
    '/console/assets/..%5c..%5cstamp',
    '/console/%2fetc%2fpasswd',
    '/console/stamp',
    '/console/constructor',
    '/console/__proto__',
  ])('outside of the build is out of reach: %s', async (url) => {
    const { statusCode, body } = await get(url)
    if (statusCode === 200) expect(body).toBe(PAGE)
    else expect([400, 404]).toContain(statusCode)
  })
})

test('the root leads browsers to the console and names it to programs', async () => {
  const browser = await get('/', { accept: 'text/html' })
  expect([browser.statusCode, browser.headers.location]).toEqual([302, '/console'])
  expect((await get('/')).json()).toMatchObject({ links: { console: '/console' } })
})

test('the API document has no route of the console', async () => {
  expect((await get('/openapi.json')).body).not.toContain('/console')
})

test('without a build of the console, its paths say how to make one, and the root leads to the API reference', async () => {
  expect(readBuiltConsole(join(folder, 'nothing'))).toBeUndefined()
  const bare = await serverWith({})
  for (const url of ['/console', '/console/usage', '/console/assets/index-1a2b.js']) {
    const { statusCode, body } = await bare.inject(url)
    expect([statusCode, JSON.parse(body)]).toMatchObject([
      404,
      { reason: 'route_not_found', detail: expect.stringContaining('pnpm build:console') },
    ])
  }
  const browser = await bare.inject({ url: '/', headers: { accept: 'text/html' } })
  expect(browser.headers.location).toBe('/docs')
  expect((await bare.inject('/')).json().links).not.toHaveProperty('console')
  await bare.close()
})

test('where the console is switched off, its paths are unknown like any other', async () => {
  const without = await serverWith({ console: false })
  const { statusCode, body } = await without.inject('/console')
  expect([statusCode, JSON.parse(body)]).toMatchObject([404, { detail: 'GET /console is not a route.' }])
  await without.close()
})
