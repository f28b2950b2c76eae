import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { SandboxAgent } from './index.ts'

export const CONTENT = Buffer.from('报告 report \r\n\0\xff', 'utf8')

export interface FileServer extends AsyncDisposable {
  readonly origin: string
  /** Resolves when the next request arrives. */
  requested(): Promise<unknown>
}

/**
 * Serves {@link CONTENT} at every path, except that `/silent` never replies, `/cut` breaks off, and `/missing` does not
 * exist. `/moved` redirects to `/`.
 */
export async function startFileServer(): Promise<FileServer> {
  const server = createServer((request, response) => {
    const path = request.url ?? '/'
    if (path === '/silent') return
    if (path === '/missing') return void response.writeHead(404).end('no such file')
    if (path === '/moved') return void response.writeHead(302, { location: '/' }).end()
    response.writeHead(200, { 'content-length': CONTENT.length })
    if (path === '/cut') return void response.write(CONTENT.subarray(0, 4), () => response.destroy())
    response.end(CONTENT)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    origin: `http://127.0.0.1:${port}`,
    requested: () => once(server, 'request'),
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

/** The line of a reply for a file that arrived complete. */
export function lineOf(name: string, content: Uint8Array = CONTENT): string {
  const sha256 = createHash('sha256').update(content).digest('hex')
  return `- ${name} (${content.length} bytes, sha256 ${sha256})`
}

export function dataUrl(mediaType: string, content: Uint8Array = CONTENT): string {
  return `data:${mediaType};base64,${Buffer.from(content).toString('base64')}`
}

export interface UploadOptions {
  readonly key?: string
  readonly fields?: Readonly<Record<string, string>>
}

/** Uploads a file to Dify or Coze. */
export function upload(
  agent: SandboxAgent,
  path: string,
  file: File,
  { key = agent.apiKey, fields = {} }: UploadOptions = {},
): Promise<Response> {
  const form = new FormData()
  form.set('file', file)
  for (const [name, value] of Object.entries(fields)) form.set(name, value)
  return fetch(agent.baseUrl + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: form,
  })
}
