import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type GatewayWithUploads, startGatewayWithUploads } from '../support/gateway-with-uploads.ts'
import { CREATED_BY, filePart } from '../support/upload-client.ts'

// A process, because ranges, conditions and types are read from the socket as browsers and caches read them.

let system: GatewayWithUploads

/** Files of a local disk are served by the gateway; those of S3 by S3. */
beforeAll(async () => {
  system = await startGatewayWithUploads({ isOnDisk: true })
})
afterAll(() => system.gateway.remove())

const fixture = (name: string) =>
  readFileSync(join(import.meta.dirname, '../../apps/gateway/src/core/uploads/content/fixtures', name))

async function upload(content: string | Uint8Array, name: string): Promise<{ id: string; url: string }> {
  const { status, body } = await system.send([CREATED_BY, filePart(content, name)])
  expect([status, body.reason]).toEqual([200, undefined])
  return body.data
}

const remove = (id: string) => system.api.call('DELETE', `/api/v1/uploads/${id}`, { token: system.token })

/** Sends the path as it is, which `fetch` would normalize, and no other headers than these, which `fetch` adds to conditions. */
async function get(url: string, headers: Record<string, string> = {}, method = 'GET') {
  const { hostname, port } = new URL(url)
  const path = url.replace(/^https?:\/\/[^/]+/, '')
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request({ hostname, port, path, method, headers }, resolve).on('error', reject).end()
  })
  return {
    status: response.statusCode,
    headers: new Headers(response.headers as Record<string, string>),
    body: Buffer.concat(await response.toArray()),
  }
}

describe('ranges and conditions', () => {
  const content = Buffer.concat([fixture('pillow.png'), randomBytes(300_000)])
  const { length } = content
  let url: string

  beforeAll(async () => {
    url = (await upload(content, 'picture.png')).url
  })

  test('without them the whole file is sent', async () => {
    const { status, headers, body } = await get(url)
    expect(status).toBe(200)
    expect(headers.get('content-length')).toBe(String(length))
    expect(headers.get('accept-ranges')).toBe('bytes')
    expect(headers.get('etag')).toMatch(/^(W\/)?"[^"]+"$/)
    expect(headers.get('last-modified')).toMatch(/GMT$/)
    expect(body.equals(content)).toBe(true)
  })

  test.each([
    ['bytes=0-0', 0, 0],
    ['bytes=1000-4999', 1000, 4999],
    ['bytes=300000-', 300_000, length - 1],
    ['bytes=-7', length - 7, length - 1],
    [`bytes=10-${length * 2}`, 10, length - 1],
  ])('the range %s is sent alone', async (range, first, last) => {
    const { status, headers, body } = await get(url, { range })
    expect([status, headers.get('content-range')]).toEqual([206, `bytes ${first}-${last}/${length}`])
    expect(headers.get('content-length')).toBe(String(last - first + 1))
    expect(headers.get('content-type')).toBe('image/png')
    expect(body.equals(content.subarray(first, last + 1))).toBe(true)
  })

  test.each([length, length * 2])('the last %i bytes are the whole file', async (last) => {
    const { status, body } = await get(url, { range: `bytes=-${last}` })
    expect([status, body.equals(content)]).toEqual([200, true])
  })

  test.each([`bytes=${length}-`, 'bytes=-0'])('the range %s is beyond the end', async (range) => {
    const { status, headers } = await get(url, { range })
    expect([status, headers.get('content-range')]).toEqual([416, `bytes */${length}`])
  })

  test.each(['bytes=5-1', 'lines=1-2', 'bytes=a-b'])('the range %s is ignored or refused', async (range) => {
    const { status, body } = await get(url, { range })
    if (status === 200) expect(body.equals(content)).toBe(true)
    else expect(status).toBe(416)
  })

  test('a client that has the file gets 304', async () => {
    const { headers } = await get(url)
    const etag = headers.get('etag') ?? ''
    const modified = headers.get('last-modified') ?? ''
    for (const condition of [{ 'if-none-match': etag }, { 'if-modified-since': modified }]) {
      const { status, body } = await get(url, condition)
      expect([status, body.length]).toEqual([304, 0])
    }
    expect((await get(url, { 'if-none-match': '"other"' })).status).toBe(200)
  })

  test('a range is sent only of the version that the client knows', async () => {
    const modified = (await get(url)).headers.get('last-modified') ?? ''
    const range = 'bytes=1-2'
    expect((await get(url, { range, 'if-range': modified })).status).toBe(206)
    expect((await get(url, { range, 'if-range': '"other"' })).status).toBe(200)
  })

  test('HEAD has the headers of GET and no body', async () => {
    const whole = await get(url)
    const { status, headers, body } = await get(url, {}, 'HEAD')
    expect([status, body.length]).toEqual([200, 0])
    for (const name of ['content-length', 'content-type', 'etag', 'content-disposition', 'accept-ranges']) {
      expect([name, headers.get(name)]).toEqual([name, whole.headers.get(name)])
    }
  })
})

describe('what browsers do with a file', () => {
  const html = '<!doctype html><script>alert(1)</script>'
  const word = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'

  test.each([
    ['picture.png', fixture('pillow.png'), 'image/png', 'inline'],
    ['film.mp4', fixture('ffmpeg.mp4'), 'video/mp4', 'inline'],
    ['page.html', html, 'text/plain; charset=utf-8', 'inline'],
    [
      'picture.svg',
      `<svg xmlns="http://www.w3.org/2000/svg">${html}</svg>`,
      'text/plain; charset=utf-8',
      'inline',
    ],
    ['table.csv', 'a,b\n1,2\n', 'text/csv; charset=utf-8', 'attachment'],
    ['notes.md', '# Notes', 'text/markdown; charset=utf-8', 'attachment'],
    ['report.pdf', fixture('reportlab.pdf'), 'application/pdf', 'attachment'],
    ['letter.docx', fixture('libreoffice.docx'), word, 'attachment'],
  ])('%s is served as what it is', async (name, content, mediaType, disposition) => {
    const { url } = await upload(content, name)
    const { headers, body } = await get(url)
    expect(headers.get('content-type')).toBe(mediaType)
    expect(headers.get('content-disposition')).toMatch(new RegExp(`^${disposition}; filename="?${name}`))
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('cache-control')).toBe('private, no-cache')
    expect(headers.get('cross-origin-resource-policy')).toBe('cross-origin')
    const policy = headers.get('content-security-policy') ?? ''
    expect(/^sandbox; default-src 'none'/.test(policy)).toBe(!/^(image|video)/.test(mediaType))
    expect(body.equals(Buffer.from(content))).toBe(true)
  })

  test('a name that is not ASCII is sent as RFC 6266 has it', async () => {
    const { url } = await upload(fixture('pillow.png'), '报告 1 😀.png')
    const { headers } = await get(url)
    const disposition = headers.get('content-disposition') ?? ''
    expect(disposition).toMatch(/^inline; filename="[\x20-\x7e]+"; filename\*=UTF-8''/)
    const encoded = disposition.split("UTF-8''")[1] ?? ''
    expect(decodeURIComponent(encoded)).toBe('报告 1 😀.png')
  })
})

describe('a URL that leads to no file', () => {
  const statusOf = async (path: string) => (await get(system.gateway.url + path)).status

  test('is answered with 404, whatever is wrong with it', async () => {
    const { url } = await upload('text', 'note.txt')
    const [, , token = ''] = new URL(url).pathname.split('/')
    expect(await statusOf(`/files/${token}/note.txt`)).toBe(200)
    expect(await statusOf(`/files/${token}/%6eote.txt`)).toBe(200)
    expect(await statusOf(`/files/${token}/note.txt?x=/`)).toBe(200)
    const other = `${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`
    const paths = [
      `/files/${token}/other.txt`,
      `/files/${token}/NOTE.TXT`,
      `/files/${token}/note.txt/more`,
      `/files/${token}/note.txt/`,
      `/files/${token}/note.txt/?x=1`,
      `/files/${token}/note.txt//`,
      `/files/${token}/note.txt%2f`,
      `/files/${token}`,
      `/files/${other}/note.txt`,
      `/files/${token.toLowerCase()}/note.txt`,
      `/files/${token.slice(0, 42)}/note.txt`,
      '/files/x/note.txt',
      `/files/${'%2e%2e%2f'.repeat(4)}etc/passwd`,
      '/files/..%2f..%2f..%2fetc/passwd',
      '/files/../../../etc/passwd',
      `/files/${token}/..%2fnote.txt`,
      `/files/${token}/../${token}/note.txt`,
      `/files/unfinished/note.txt`,
      `/files/%00/note.txt`,
      `/files/${token}/%00`,
    ]
    for (const path of paths) expect([path, await statusOf(path)]).toEqual([path, 404])
    expect(await statusOf(`/files/${token}/%ff`)).toBe(400)
  })

  test('is answered with the same body for an unknown file as for a deleted one', async () => {
    const { id, url } = await upload('text', 'note.txt')
    expect((await remove(id)).status).toBe(200)
    const answer = async (url: string) => {
      const { status, headers, body } = await get(url, { 'x-request-id': 'same' })
      return [status, headers.get('content-type'), JSON.parse(body.toString())]
    }
    const deleted = await answer(url)
    expect(deleted).toMatchObject([404, expect.anything(), { reason: 'upload_not_found' }])
    const unknown = url.replace(/\/files\/[\w-]+\//, `/files/${'A'.repeat(43)}/`)
    expect(await answer(unknown)).toEqual(deleted)
  })

  test.each([
    ['shorter', 'tex'],
    ['longer', 'texts'],
  ])('is answered with 503 while the file is %s than its record says', async (_how, content) => {
    const { url } = await upload('text', 'note.txt')
    const [, token = ''] = /\/files\/([\w-]+)\//.exec(url) ?? []
    const folder = join(system.gateway.dataDir, 'files')
    const path = readdirSync(folder, { recursive: true }).find((name) => String(name).endsWith(token))
    writeFileSync(join(folder, String(path)), content)
    for (const headers of [{}, { range: 'bytes=0-1' }]) {
      const { status, body } = await get(url, headers)
      expect([status, JSON.parse(body.toString())]).toMatchObject([503, { reason: 'unavailable' }])
    }
    writeFileSync(join(folder, String(path)), 'text')
    expect((await get(url)).body.toString()).toBe('text')
  })

  test('is answered with 404 when the upload has expired, before the sweep and after it', async () => {
    const { gateway } = system
    const { id, url } = await upload('text', 'note.txt')
    const { pathname } = new URL(url)
    await gateway.stop()
    await gateway.query('UPDATE uploads SET expires_at = now() WHERE id = $1', [id])
    await gateway.start()
    const path = `/api/v1/uploads/${id}`
    for (const sweeps of [false, true]) {
      if (sweeps) {
        const { output } = await gateway.trunkline('uploads', 'sweep', '--json')
        expect(JSON.parse(output)).toMatchObject({ expired: 1 })
      }
      expect((await get(gateway.url + pathname)).status).toBe(404)
      expect((await system.api.call('GET', path, { token: system.token })).status).toBe(404)
      expect((await system.api.call('DELETE', path, { token: system.token })).status).toBe(404)
    }
  })
})
