import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  createFullKey,
  type FilesInChats,
  filesInChats,
  REPORT,
  traceOf,
  WAYS,
} from '../support/files-in-chats.ts'
import { freePort } from '../support/free-port.ts'
import { type GatewayWithSandbox, startGatewayWithSandbox } from '../support/gateway-with-sandbox.ts'

// A process, because URLs must keep their meaning when the gateway is started again, and lead to files that it serves itself.

const EXTERNAL = 'https://files.example.com/photo.png'

let system: GatewayWithSandbox
let client: FilesInChats
let theirKey: string

beforeAll(async () => {
  const plenty = { points: 100_000 }
  // The same address after a restart, so that URLs stay valid.
  const port = String(await freePort())
  system = await startGatewayWithSandbox({
    settings: { limits: { chat: plenty, upload: plenty, calls: plenty } },
    env: { PORT: port, PUBLIC_URL: `http://localhost:${port}` },
  })
  client = filesInChats(system, await createFullKey(system))
  const user = await system.api.createUser(system.token, 'somebody')
  theirKey = await createFullKey(system, { owner_id: user.id })
})
afterAll(() => system.remove())

const NOT_FOUND = { status: 404, body: { code: 404, reason: 'upload_not_found' } }

/** Expects that the call is refused because of this file, is in the ledger once, and has sent nothing to the platform. */
async function expectNotFound(
  agent: 'dify' | 'openai',
  files: readonly string[],
  index: number,
  key?: string,
) {
  const asked = () => client.ask({ agent, files, ...(key !== undefined && { key }) })
  const { result, uploads, chats } = await client.during(agent, asked)
  expect(result).toMatchObject(NOT_FOUND)
  expect(result.body.detail).toMatch(`body.files[${index}]: `)
  expect([...uploads, ...chats]).toEqual([])
  expect(await client.callsOf(result)).toMatchObject([{ outcome: 'rejected', reason: 'upload_not_found' }])
}

describe('another user who knows the URL of a file', () => {
  test.each(['dify', 'openai'] as const)('cannot send it to %s', async (agent) => {
    const { url } = await client.upload(REPORT)
    await expectNotFound(agent, [url], 0, theirKey)
    expect((await client.ask({ agent, files: [url] })).text).toContain(traceOf(REPORT))
  })

  test.each(['dify', 'openai'] as const)('gets the same on every way to call %s', async (agent) => {
    const { url } = await client.upload(REPORT)
    for (const way of WAYS) {
      const asked = () => client.ask({ agent, way, files: [url], key: theirKey })
      const { result, uploads, chats } = await client.during(agent, asked)
      expect([result.status, ...uploads, ...chats]).toEqual([404])
      if (way.startsWith('chat')) continue
      const param = 'messages[0].content[1].file.file_data'
      expect(result.body.error).toMatchObject({ code: 'upload_not_found', param })
    }
  })

  test('learns nothing: the reply is that for a file that never was', async () => {
    const { url } = await client.upload(REPORT)
    const unknown = url.replace(/\/[\w-]{43}\//, `/${'A'.repeat(43)}/`)
    const bodies = await Promise.all(
      [url, unknown].map(async (each) => {
        const { body } = await client.ask({ agent: 'dify', files: [each], key: theirKey })
        return { ...body, request_id: '' }
      }),
    )
    expect(bodies[0]).toEqual(bodies[1])
  })
})

test.each([0, 7, 19])(
  'a file that the caller may not use is found at position %i of 20, and none is sent',
  async (index) => {
    const [own, theirs] = [await client.upload(REPORT), await client.upload(REPORT, theirKey)]
    const files: string[] = Array.from({ length: 20 }, (_, at) => (at % 2 === 0 ? own.url : EXTERNAL))
    files[index] = theirs.url
    await expectNotFound('dify', files, index)
    await expectNotFound('openai', files, index)
  },
)

test('20 files are taken, and 21 are not', async () => {
  const { url } = await client.upload(REPORT)
  const { text } = await client.ask({ agent: 'dify', files: Array(20).fill(url) })
  expect(text.split(traceOf(REPORT))).toHaveLength(21)
  const { status, body } = await client.ask({ agent: 'dify', files: Array(21).fill(url) })
  expect([status, body.detail]).toEqual([400, expect.stringMatching(/^body\.files: .*at most 20/)])
})

describe('the URL of an upload', () => {
  test('that was deleted is refused', async () => {
    const { id, url } = await client.upload(REPORT)
    expect((await client.ask({ agent: 'dify', files: [url] })).status).toBe(200)
    await system.api.call('DELETE', `/api/v1/uploads/${id}`, { token: system.token })
    await expectNotFound('dify', [url], 0)
  })

  test('that has expired is refused', async () => {
    const { id, url } = await client.upload(REPORT)
    const { url: valid } = await client.upload(REPORT)
    await system.gateway.stop()
    await system.gateway.query("UPDATE uploads SET expires_at = now() - interval '1 second' WHERE id = $1", [
      id,
    ])
    await system.gateway.start()
    await expectNotFound('dify', [valid, url], 1)
  })

  test.each<[string, (url: URL) => string]>([
    ['another name', (url) => url.href.replace('report.pdf', 'report2.pdf')],
    ['no extension', (url) => url.href.replace('report.pdf', 'report')],
    ['another case of its name', (url) => url.href.replace('report.pdf', 'Report.pdf')],
    ['another token', (url) => url.href.replace(/\/[\w-]{43}\//, `/${'A'.repeat(43)}/`)],
    ['another case of its token', (url) => url.href.replace(/\/[\w-]{43}\//, (token) => swapCase(token))],
  ])('with %s leads to nothing', async (_what, tamper) => {
    const { url } = await client.upload(REPORT)
    expect(tamper(new URL(url))).not.toBe(url)
    await expectNotFound('dify', [tamper(new URL(url))], 0)
  })

  test.each<[string, (url: URL) => string]>([
    ['an upper-case scheme', ({ href }) => href.replace('http:', 'HTTP:')],
    ['an upper-case host', ({ href, host }) => href.replace(host, host.toUpperCase())],
    ['zeros before its port', ({ href, port }) => href.replace(`:${port}/`, `:0${port}/`)],
    ['needless escapes', ({ href }) => href.replace('report.pdf', '%72eport%2Epdf')],
    ['another query', ({ origin, pathname }) => `${origin}${pathname}?download=1`],
    ['a fragment', ({ href }) => `${href}#page=2`],
    ['a detour', ({ origin, pathname, search }) => `${origin}/x/..${pathname}${search}`],
  ])('is recognized with %s', async (_what, respell) => {
    const { url } = await client.upload(REPORT)
    const spelling = respell(new URL(url))
    const { text } = await client.ask({ agent: 'dify', files: [spelling] })
    expect(text).toContain(traceOf(REPORT))
    await expectNotFound('dify', [spelling], 0, theirKey)
  })

  test.each<[string, (url: URL) => string]>([
    ['the root', ({ origin }) => `${origin}/`],
    ['a route', ({ origin }) => `${origin}/api/v1/agents`],
    ['the folder of files', ({ origin, pathname }) => origin + pathname.replace(/[\w-]{43}\/.*/, '')],
    ['a token without a name', ({ origin, pathname }) => origin + pathname.replace(/[^/]*$/, '')],
    ['a short token', ({ origin, pathname }) => origin + pathname.replace(/[\w-]{43}/, 'A'.repeat(42))],
    ['more than a name', ({ href }) => href.replace('report.pdf', 'report.pdf/report.pdf')],
    ['another folder', ({ origin, pathname }) => `${origin}/x${pathname}`],
    ['another port', ({ hostname, pathname }) => `http://${hostname}:81${pathname}`],
    ['another scheme', ({ host, pathname }) => `https://${host}${pathname}`],
  ])('turned into %s is a local URL like any other', async (_what, change) => {
    const { url } = await client.upload(REPORT)
    const { result, chats } = await client.during('dify', () =>
      client.ask({ agent: 'dify', files: [change(new URL(url))] }),
    )
    expect([result.status, result.body.detail]).toEqual([
      400,
      'body.files[0]: expected a publicly reachable URL.',
    ])
    expect(chats).toEqual([])
  })
})

function swapCase(text: string): string {
  return text.replace(/[a-z]/gi, (letter) => (letter < 'a' ? letter.toLowerCase() : letter.toUpperCase()))
}
