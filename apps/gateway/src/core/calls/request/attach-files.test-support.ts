import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import { agentOf, callOf } from '#core/agents/transcripts.test-support.ts'
import { createUpstream, type Upstream } from '#core/agents/upstream/upstream.ts'
import { fail } from '#core/base/errors/errors.ts'
import type { FieldPath } from '#core/base/values/field-path.ts'
import { ByteBudget } from '#core/limits/byte-budget.ts'
import { createTypeCheck } from '#core/uploads/content/file-type.ts'
import type { CopyHolder, FileOwner, IssuedFiles } from '#core/uploads/issued-files.ts'
import type { Upload } from '#generated/prisma/client.ts'
import type { AttachDeps, AttachRequest } from './attach-files.ts'
import { resolveCall } from './call.ts'
import { requestOf } from './chat-request.test-support.ts'
import type { DeployedCall } from './deployed-call.ts'
import type { CallFile } from './messages.ts'

export const OWNER = 'owner-1'

/** The base of the URLs of {@link FakeFiles}, which is not public. */
const BASE = 'http://127.0.0.1:8080/files/'

/** Uploads in memory, with a log of what was done with them. */
export class FakeFiles implements IssuedFiles {
  readonly log: string[] = []
  /** Every stream that was given out. */
  readonly streams: Readable[] = []
  /** Replaces the stream of a file. */
  open: ((upload: Upload) => Readable) | undefined
  /** Replaces the base of the URLs for platforms. */
  publicBase = BASE
  readonly #uploads = new Map<string, Upload>()
  readonly #contents = new Map<string, Uint8Array>()
  readonly #copies = new Map<string, string>()

  /** Adds an upload and returns its URL. */
  add(name: string, content: Uint8Array, more: Partial<Upload> = {}): string {
    const upload: Upload = {
      ...{
        id: `id of ${name}`,
        callId: 'call-1',
        token: 'token',
        urlName: name,
        filename: name,
        mediaType: 'application/pdf',
      },
      size: BigInt(content.length),
      sha256: sha256Of(content),
      ownerId: OWNER,
      keyId: 'key-1',
      agent: '',
      createdBy: 'me',
      endUser: '',
      createdAt: new Date(0),
      expiresAt: new Date(1),
      deletedAt: null,
      ...more,
    }
    const url = BASE + name
    this.#uploads.set(url, upload)
    this.#contents.set(upload.id, content)
    return url
  }

  isIssued = (url: string) => url.startsWith(BASE)

  async find({ ownerId, endUser }: FileOwner, url: string, field: FieldPath): Promise<Upload> {
    this.log.push(`find ${url.slice(BASE.length)}`)
    const upload = this.#uploads.get(url)
    const isTheirs = upload?.ownerId === ownerId && upload.endUser === (endUser ?? upload.endUser)
    return isTheirs ? upload : fail('upload_not_found', { field })
  }

  async urlOf({ urlName }: Upload): Promise<string> {
    return this.publicBase + urlName
  }

  async read(upload: Upload): Promise<Readable> {
    this.log.push(`read ${upload.urlName}`)
    const stream =
      this.open?.(upload) ?? Readable.from([this.#contents.get(upload.id)], { objectMode: false })
    this.streams.push(stream)
    return stream
  }

  async findCopy({ id }: Upload, holder: CopyHolder): Promise<string | undefined> {
    return this.#copies.get(copyKey(id, holder))
  }

  async keepCopy({ id, urlName }: Upload, holder: CopyHolder, platformFileId: string): Promise<void> {
    this.log.push(`keep ${urlName}`)
    this.#copies.set(copyKey(id, holder), platformFileId)
  }

  async forgetCopies(uploads: readonly Upload[], holder: CopyHolder): Promise<void> {
    this.log.push(`forget ${uploads.map(({ urlName }) => urlName).join(' ')}`)
    for (const { id } of uploads) this.#copies.delete(copyKey(id, holder))
  }
}

export function sha256Of(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex')
}

function copyKey(id: string, { agent, credential, endUser }: CopyHolder): string {
  return JSON.stringify([id, agent, credential, endUser])
}

export interface ReceivedFile {
  readonly path: string
  readonly authorization: string | undefined
  readonly filename: string
  readonly mediaType: string
  readonly sha256: string
}

/** A server that takes uploads as Dify does. Its ids are `file-1`, `file-2` and so on. */
export interface UploadServer {
  readonly upstream: Upstream
  readonly baseUrl: string
  readonly received: readonly ReceivedFile[]
  /** Replaces the reply to every request. */
  answer: ((request: IncomingMessage, response: ServerResponse) => unknown) | undefined
}

/** Ends with the test. */
export async function startUploadServer(): Promise<UploadServer> {
  const received: ReceivedFile[] = []
  const server = createServer(async (request, response) => {
    if (uploadServer.answer !== undefined) return void uploadServer.answer(request, response)
    received.push(await receivedFile(request))
    response.writeHead(201, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ id: `file-${received.length}` }))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const upstream = createUpstream({ replyBytesMax: 1_000_000, unsentBytesMax: 1_000_000 })
  onTestFinished(async () => {
    await upstream.close()
    server.closeAllConnections()
    server.close()
  })
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const uploadServer: UploadServer = { upstream, baseUrl, received, answer: undefined }
  return uploadServer
}

async function receivedFile(request: IncomingMessage): Promise<ReceivedFile> {
  const { authorization, 'content-type': type = '' } = request.headers
  const body = new Uint8Array(await buffer(request))
  const form = await new Response(body, { headers: { 'content-type': type } }).formData()
  const file = form.get('file')
  if (!(file instanceof File)) throw new Error('the form has no file')
  const sha256 = sha256Of(await file.bytes())
  return { path: request.url ?? '', authorization, filename: file.name, mediaType: file.type, sha256 }
}

export function depsFor(files: FakeFiles, { upstream }: UploadServer, inlineBytesMax = 1e9): AttachDeps {
  const inlineBytes = new ByteBudget(inlineBytesMax)
  return {
    files,
    upstream,
    inlineBytes,
    checkType: createTypeCheck(['image/*', 'text/*', 'application/pdf']),
  }
}

export interface RequestOptions {
  readonly platform?: string
  readonly apiKey?: string
  readonly agentId?: string
  readonly endUser?: string
  /** Aborts when the call ends. */
  readonly signal?: AbortSignal
}

const timeouts = { connectMs: 1_000, firstByteMs: 10_000, idleMs: 10_000, totalMs: 10_000 }

/** A call with these files to an agent at the server. */
export function requestWith(
  sent: readonly CallFile[],
  files: FakeFiles,
  { baseUrl }: Pick<UploadServer, 'baseUrl'>,
  { platform = 'dify', apiKey = 'key-of-agent', agentId = platform, ...more }: RequestOptions = {},
): AttachRequest & { readonly call: DeployedCall } {
  const agent = agentOf(platform, { id: agentId, baseUrl, apiKey, timeouts })
  const raw = requestOf({
    agent: agentId,
    appId: 'app-1',
    chatId: 'c',
    conversationId: 'c',
    files: sent,
  })
  const [deployment] = agent.deployments
  if (deployment === undefined) throw new Error('every agent has a deployment')
  const call = resolveCall(new Map([[agentId, agent]]), raw, files.isIssued)
  return {
    call: { ...call, deployment, card: undefined, isPlaced: false, canContinue: () => true },
    agentCall: callOf(agent, more.endUser === undefined ? {} : { endUser: more.endUser }),
    ownerId: OWNER,
    signal: more.signal ?? new AbortController().signal,
  }
}
