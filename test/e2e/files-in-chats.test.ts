import type { SandboxPlatform } from '@trunkline/sandbox'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  createFullKey,
  dataUrlOf,
  type FilesInChats,
  filesInChats,
  NOTES,
  PHOTO,
  REPORT,
  traceOf,
  WAYS,
} from '../support/files-in-chats.ts'
import { type GatewayWithSandbox, startGatewayWithSandbox } from '../support/gateway-with-sandbox.ts'

// A process, because platforms fetch files from the gateway by their URLs, also after it was started again.

/*
 * On local disk and on S3, both of which are at a local address here, as in many installations.
 */
let system: GatewayWithSandbox
let client: FilesInChats

beforeAll(async () => {
  const plenty = { points: 100_000 }
  system = await startGatewayWithSandbox({
    settings: { limits: { chat: plenty, upload: plenty, calls: plenty } },
    agents: ({ dify = {}, coze = {} }) => ({ 'dify-2': dify, 'coze-2': coze }),
  })
  client = filesInChats(system, await createFullKey(system))
})
afterAll(() => system.remove())

const PLATFORMS = ['fastgpt', 'hiagent', 'dify', 'coze', 'openai'] as const satisfies SandboxPlatform[]
const WITH_UPLOADS = ['dify', 'coze'] as const
const FILES = [REPORT, PHOTO, NOTES]

describe('a platform', () => {
  // How a call comes and where it goes are independent of each other.
  test.each(PLATFORMS.map((agent, index) => [agent, WAYS[index % WAYS.length] ?? 'chat'] as const))(
    '%s receives the uploaded files of a call by %s, and says their sizes and hashes',
    async (agent, way) => {
      const uploads = await Promise.all(FILES.map((file) => client.upload(file)))
      const reply = await client.ask({ agent, way, files: uploads.map(({ url }) => url) })
      expect([reply.status, reply.body?.error ?? reply.body?.detail]).toEqual([200, undefined])
      for (const file of FILES) expect(reply.text).toContain(traceOf(file))
      expect(await client.callsOf(reply)).toMatchObject([{ outcome: 'done', agent }])
    },
  )

  test('receives a file from every field of a content part that may hold its URL', async () => {
    const { url } = await client.upload(REPORT)
    const { url: image } = await client.upload(PHOTO)
    for (const [part, file] of [
      [{ type: 'file', file: { file_data: url } }, REPORT],
      [{ type: 'file', file: { file_url: url } }, REPORT],
      [{ type: 'file', file: { url } }, REPORT],
      [{ type: 'file', file: url }, REPORT],
      [{ type: 'image_url', image_url: { url: image, detail: 'low' } }, PHOTO],
      [{ type: 'image_url', image_url: image }, PHOTO],
    ] as const) {
      const { status, text } = await client.ask({ agent: 'dify', way: 'completions', parts: [part] })
      expect([status, text]).toEqual([200, expect.stringContaining(traceOf(file))])
    }
  })
})

describe('what reaches the platform', () => {
  const sent = async (agent: (typeof PLATFORMS)[number]) => {
    const uploads = await Promise.all(FILES.map((file) => client.upload(file)))
    const urls = uploads.map(({ url }) => url)
    const { uploads: received, chats } = await client.during(agent, () => client.ask({ agent, files: urls }))
    return { urls, received, body: chats.at(-1)?.body }
  }
  const fileFields = [REPORT, PHOTO, NOTES].map(({ name, mediaType, content }) => ({
    file: { filename: name, contentType: mediaType, size: content.length, sha256: expect.any(String) },
  }))

  test('dify: an upload of each file under its name and checked type, and the ids as its types of files', async () => {
    const { received, body } = await sent('dify')
    expect(received.map((each) => each.body)).toMatchObject(fileFields)
    expect(new Set(received.map((each) => each.body.user))).toEqual(new Set([body?.user]))
    const upload_file_id = expect.stringMatching(/^[0-9a-f-]{36}$/)
    expect(body?.files).toEqual(
      ['document', 'image', 'document'].map((type) => ({
        type,
        transfer_method: 'local_file',
        upload_file_id,
      })),
    )
  })

  test('coze: an upload of each file, and the ids as its types of files', async () => {
    const { received, body } = await sent('coze')
    expect(received.map((each) => each.body)).toMatchObject(fileFields)
    expect(JSON.parse(JSON.stringify(body?.additional_messages))[0].content_type).toBe('object_string')
    const parts = JSON.parse(JSON.parse(JSON.stringify(body?.additional_messages))[0].content)
    const file_id = expect.stringMatching(/^\d+$/)
    expect(parts.filter(({ type }: { type: string }) => type !== 'text')).toEqual(
      ['file', 'image', 'file'].map((type) => ({ type, file_id })),
    )
  })

  test('fastgpt: URLs that end in the extension of the checked type, and the names', async () => {
    const { received, body } = await sent('fastgpt')
    expect(received).toEqual([])
    expect(JSON.parse(JSON.stringify(body?.messages)).at(-1).content.slice(1)).toEqual([
      { type: 'file_url', name: 'report.pdf', url: expect.stringMatching(/\/report\.pdf(\?|$)/) },
      { type: 'image_url', image_url: { url: expect.stringMatching(/\/photo\.png(\?|$)/) } },
      { type: 'file_url', name: 'notes.docx', url: expect.stringMatching(/\/notes\.docx(\?|$)/) },
    ])
  })

  test('hiagent: URLs that end in the extension of the checked type, and the names', async () => {
    const { received, body } = await sent('hiagent')
    expect(received).toEqual([])
    const Files = FILES.map(({ name }) => ({
      Name: name,
      Path: '',
      Size: 0,
      Url: expect.stringMatching(new RegExp(`/${name}(\\?|$)`)),
    }))
    expect(body?.QueryExtends).toEqual({ Files })
  })

  test('openai: the content, because the URLs are not public', async () => {
    const { received, body } = await sent('openai')
    expect(received).toEqual([])
    expect(JSON.parse(JSON.stringify(body?.messages)).at(-1).content.slice(1)).toEqual([
      { type: 'file', file: { filename: 'report.pdf', file_data: dataUrlOf(REPORT) } },
      { type: 'image_url', image_url: { url: dataUrlOf(PHOTO) } },
      { type: 'file', file: { filename: 'notes.docx', file_data: dataUrlOf(NOTES) } },
    ])
  })

  test('the URL leads into the bucket where there is one, and otherwise to the gateway', async () => {
    const { url } = await client.upload(REPORT)
    const { bucket } = system.gateway.storage
    expect(url).toContain(
      bucket === undefined ? `${system.gateway.url}/files/` : `/${bucket.settings.bucket}/uploads/`,
    )
  })

  test('a name without an extension, or with one of another type, gets that of the checked type', async () => {
    for (const name of ['report', 'report.png', 'report.docx']) {
      const { url } = await client.upload({ ...REPORT, name })
      const { chats } = await client.during('fastgpt', () => client.ask({ agent: 'fastgpt', files: [url] }))
      expect(JSON.parse(JSON.stringify(chats[0]?.body.messages)).at(-1).content[1]).toMatchObject({
        type: 'file_url',
        name: `${name}.pdf`,
        url: expect.stringMatching(/\.pdf(\?|$)/),
      })
      const { uploads } = await client.during('dify', () => client.ask({ agent: 'dify', files: [url] }))
      expect(uploads).toMatchObject([{ body: { file: { filename: `${name}.pdf` } } }])
    }
  })
})

describe.each(WITH_UPLOADS)('%s receives a file', (agent) => {
  const uploadsFor = async (url: string, more: { agent?: string; user?: string; key?: string } = {}) => {
    const { result, uploads } = await client.during(agent, () => client.ask({ agent, files: [url], ...more }))
    expect([result.status, result.text]).toEqual([200, expect.stringContaining(traceOf(REPORT))])
    return uploads.length
  }

  test('once for an agent and an end user, also after a restart of the gateway', async () => {
    const { id, url } = await client.upload(REPORT)
    const alice = { user: 'alice' }
    const other = { agent: `${agent}-2` }
    const otherKey = { key: await createFullKey(system) }
    expect([await uploadsFor(url), await uploadsFor(url), await uploadsFor(url, otherKey)]).toEqual([1, 0, 0])
    expect([await uploadsFor(url, alice), await uploadsFor(url, alice), await uploadsFor(url)]).toEqual([
      1, 0, 0,
    ])
    expect([await uploadsFor(url, other), await uploadsFor(url, other), await uploadsFor(url)]).toEqual([
      1, 0, 0,
    ])
    await system.gateway.stop()
    await system.gateway.start()
    const { body } = await system.api.call('GET', `/api/v1/uploads/${id}`, { token: system.token })
    expect([await uploadsFor(body.data.url), await uploadsFor(body.data.url, alice)]).toEqual([0, 0])
  })

  test('that a request carries, with the type of its content', async () => {
    const parts = [
      { type: 'image_url', image_url: { url: dataUrlOf({ ...PHOTO, mediaType: 'image/jpeg' }) } },
      { type: 'file', file: { filename: 'C:\\reports\\report.pdf', file_data: dataUrlOf(REPORT) } },
    ]
    for (const way of ['completions', 'completions stream'] as const) {
      const { result, uploads } = await client.during(agent, () => client.ask({ agent, way, parts }))
      expect(result.text).toContain(`file.png ${traceOf(PHOTO)}`)
      expect(result.text).toContain(`report.pdf ${traceOf(REPORT)}`)
      expect(uploads.map(({ body }) => body.file)).toMatchObject([
        { filename: 'file.png', contentType: 'image/png' },
        { filename: 'report.pdf', contentType: 'application/pdf' },
      ])
    }
  })
})
