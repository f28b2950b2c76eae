import { createHash, hash } from 'node:crypto'
import { addAbortSignal, Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import type {
  Adapter,
  AgentCall,
  AgentFile,
  CallMessage,
  FileByUrl,
  FileToUpload,
} from '#core/agents/adapter.ts'
import type { Failure } from '#core/agents/events.ts'
import { agentFile, describeFile } from '#core/agents/translate/agent-file.ts'
import { agentKey } from '#core/agents/translate/plain-requests.ts'
import { OpeningFailed } from '#core/agents/upstream/opening-failed.ts'
import type { Upstream } from '#core/agents/upstream/upstream.ts'
import { markRejectionHandled } from '#core/base/async/mark-rejection-handled.ts'
import { Problem, refuseField } from '#core/base/errors/errors.ts'
import type { FieldPath } from '#core/base/values/field-path.ts'
import type { ByteBudget } from '#core/limits/byte-budget.ts'
import { shownName, urlName } from '#core/uploads/content/file-name.ts'
import { type CheckedType, type CheckType, SAMPLE_BYTES } from '#core/uploads/content/file-type.ts'
import { type CopyHolder, type IssuedFiles, problemOfRead } from '#core/uploads/issued-files.ts'
import type { Upload } from '#generated/prisma/client.ts'
import type { DeployedCall } from './deployed-call.ts'
import { fileUrlProblem } from './file-urls.ts'
import { fileUrlsOf, type InlineFile, type NamedFile, withFileUrls } from './messages.ts'

export interface AttachDeps {
  readonly files: IssuedFiles
  readonly upstream: Upstream
  readonly checkType: CheckType
  /** Bounds what files that are sent within requests may take in memory. */
  readonly inlineBytes: ByteBudget
}

export interface AttachRequest {
  readonly call: Pick<DeployedCall, 'asks' | 'deployment' | 'boundTo'>
  /** The call without these files. */
  readonly agentCall: AgentCall
  readonly ownerId: string
  /** Aborts when the call ends, so that no file is sent any more. */
  readonly signal: AbortSignal
}

/** The call with its files as the platform takes them. */
export interface Attached {
  readonly agentCall: AgentCall
  readonly memory: HeldMemory
  /** Absent if the call has sent all of its files itself. */
  readonly knownFiles?: KnownFiles
}

/** What the files of a call take of the memory for files within requests. */
export interface HeldMemory {
  /** Must be called when the call has ended. Does nothing the second time. */
  release(): void
}

/** Files that the platform knows by ids that were kept from earlier calls. */
export interface KnownFiles {
  /** Whether a failure may mean that the platform does not accept these ids any more. */
  mayBeForgotten(failure: Failure): boolean
  /** Forgets the ids, so that the next call brings the files anew. */
  forget(): Promise<void>
  /** Brings the files to the platform anew, and returns the call with their new ids. */
  bringAnew(): Promise<AgentCall>
}

/** The most bytes of files that are sent within one request, because they are in memory meanwhile. */
const INLINE_BYTES_MAX = 20 * 1024 * 1024

/**
 * Brings the files of a call to its platform: by an upload of the platform's own where it has one, and else by a URL. A file
 * whose URL is not public is sent within the request if the platform takes that.
 *
 * @throws Problem `upload_not_found`, `file_type_not_accepted`, `invalid_request`, `unavailable`
 * @throws OpeningFailed if the platform refuses a file
 */
export async function attachFiles(deps: AttachDeps, request: AttachRequest): Promise<Attached> {
  const { asks } = request.call
  const attaching = new Attaching(deps, request)
  const { memory } = attaching
  try {
    const agentCall =
      asks.kind === 'messages'
        ? { ...request.agentCall, messages: await attaching.inMessages(asks.messages) }
        : { ...request.agentCall, files: await attaching.files(asks.files) }
    return { agentCall, memory, ...(attaching.knowsFiles && { knownFiles: attaching }) }
  } catch (error) {
    memory.release()
    throw error
  }
}

/** The work for the files of one call, one after the other, so that a call reads one file at a time. */
class Attaching implements KnownFiles {
  readonly #deps: AttachDeps
  readonly #request: AttachRequest
  readonly #holder: CopyHolder
  /** Files that the platform knows by an id that was kept from an earlier call. */
  readonly #known: Upload[] = []
  #inlineBytes = 0
  readonly memory = new Memory()

  constructor(deps: AttachDeps, request: AttachRequest) {
    this.#deps = deps
    this.#request = request
    const { agent, endUser } = request.agentCall
    const credential = hash('sha256', placeOfFiles(request)).slice(0, 32)
    this.#holder = { agent: agent.id, credential, endUser }
  }

  get knowsFiles(): boolean {
    return this.#known.length > 0
  }

  async inMessages(messages: readonly CallMessage[]): Promise<readonly CallMessage[]> {
    const urls = fileUrlsOf(messages)
    const uploads = await this.#uploadsOf(urls)
    const replacements = new Map<string, FileByUrl>()
    for (const [field, url] of urls) {
      const upload = uploads.get(url)
      if (upload !== undefined && !replacements.has(url))
        replacements.set(url, await this.#byUrl(upload, field))
    }
    return withFileUrls(messages, replacements)
  }

  async files(named: readonly NamedFile[]): Promise<AgentFile[]> {
    const urls = named.flatMap(({ field, file }) =>
      typeof file === 'string' ? [[field, file] as const] : [],
    )
    const uploads = await this.#uploadsOf(urls)
    const files: AgentFile[] = []
    for (const { field, file } of named) {
      const upload = typeof file === 'string' ? uploads.get(file) : undefined
      if (typeof file !== 'string') files.push(await this.#inline(file, field))
      else files.push(upload === undefined ? agentFile(file) : await this.#upload(upload, field))
    }
    return files
  }

  mayBeForgotten(failure: Failure): boolean {
    return this.#adapter.isFileRefusal?.(failure) === true
  }

  forget(): Promise<void> {
    return this.#deps.files.forgetCopies(this.#known, this.#holder)
  }

  async bringAnew(): Promise<AgentCall> {
    const { call, agentCall } = this.#request
    await this.forget()
    return { ...agentCall, files: call.asks.kind === 'question' ? await this.files(call.asks.files) : [] }
  }

  get #adapter(): Adapter {
    return this.#request.agentCall.agent.adapter
  }

  /** Looks up all uploads before any of them is read, so that a call that may not use one of them sends none. */
  async #uploadsOf(
    urls: readonly (readonly [field: FieldPath, url: string])[],
  ): Promise<Map<string, Upload>> {
    const { files } = this.#deps
    const { ownerId, call } = this.#request
    const uploads = new Map<string, Upload>()
    // Messages may repeat one picture thousands of times.
    const seen = new Set<string>()
    for (const [field, url] of urls) {
      if (seen.has(url)) continue
      seen.add(url)
      if (files.isIssued(url))
        uploads.set(url, await files.find({ ownerId, endUser: call.boundTo }, url, field))
    }
    return uploads
  }

  async #upload(upload: Upload, field: FieldPath): Promise<AgentFile> {
    const { files } = this.#deps
    if (this.#adapter.uploadFile === undefined) return this.#byUrl(upload, field)
    const description = describeFile(upload.urlName)
    const known = await files.findCopy(upload, this.#holder)
    if (known !== undefined) {
      this.#known.push(upload)
      return { ...description, platformFileId: known }
    }
    const body = await files.read(upload)
    const { mediaType, sha256 } = upload
    const file = { ...description, mediaType, sha256, size: Number(upload.size), body }
    const platformFileId = await this.#send(file)
    // Without this the next call brings the file anew. The upload may just have been deleted.
    await files.keepCopy(upload, this.#holder, platformFileId).catch(() => undefined)
    return { ...description, platformFileId }
  }

  async #inline({ dataUrl, filename }: InlineFile, field: FieldPath): Promise<AgentFile> {
    const content = Buffer.from(dataUrl.slice(dataUrl.indexOf(',') + 1), 'base64')
    const name = shownName(filename)
    const { mediaType, extension } = await this.#typeOf(content, name, field)
    const description = describeFile(urlName(name, extension))
    if (this.#adapter.uploadFile === undefined) {
      this.#holdInline(content.length, field)
      return { ...description, url: dataUrlOf(mediaType, content) }
    }
    const sha256 = createHash('sha256').update(content).digest('hex')
    const body = Readable.from([content])
    const platformFileId = await this.#send({ ...description, mediaType, sha256, size: content.length, body })
    return { ...description, platformFileId }
  }

  async #typeOf(content: Buffer, name: string, field: FieldPath): Promise<CheckedType> {
    try {
      const type = await this.#deps.checkType(content.subarray(0, SAMPLE_BYTES), name)
      type.text?.feed(content)
      type.text?.end()
      return type
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      throw error.at(field)
    }
  }

  async #byUrl(upload: Upload, field: FieldPath): Promise<FileByUrl> {
    const { files } = this.#deps
    const description = describeFile(upload.urlName)
    const url = await files.urlOf(upload)
    const isReachable = fileUrlProblem(url) === undefined
    if (isReachable || !this.#adapter.takesDataUrls) return { ...description, url }
    this.#holdInline(Number(upload.size), field)
    const body = addAbortSignal(this.#request.signal, await files.read(upload))
    const content = await buffer(body).catch((error: unknown) => {
      throw problemOfRead(error)
    })
    return { ...description, url: dataUrlOf(upload.mediaType, content) }
  }

  #holdInline(bytes: number, field: FieldPath): void {
    this.#inlineBytes += bytes
    if (this.#inlineBytes > INLINE_BYTES_MAX) {
      const most = `expected files of at most ${INLINE_BYTES_MAX} bytes in all`
      refuseField(field, `${most}, since this agent gets them within the request.`)
    }
    this.memory.add(this.#deps.inlineBytes.hold(bytes))
  }

  async #send(file: FileToUpload): Promise<string> {
    const { agentCall, signal } = this.#request
    const { agent } = agentCall
    const helper = agent.adapter.uploadFile?.(agentCall, file)
    if (helper === undefined) throw new Error(`the platform of ${agent.id} takes no uploads`)
    const { totalMs } = agent.timeouts
    const sending = markRejectionHandled(this.#deps.upstream.help(agent, helper, totalMs, signal))
    const result = await sending.catch((error: unknown) => {
      throw problemOfRead(error)
    })
    if ('failure' in result) throw new OpeningFailed(result.failure)
    return result.ok.platformFileId
  }
}

function dataUrlOf(mediaType: string, content: Buffer): string {
  return `data:${mediaType};base64,${content.toString('base64')}`
}

/** Where the platform's ids of files are valid: for one address and key, or in a state that several deployments share. */
function placeOfFiles({ call, agentCall: { agent, app } }: AttachRequest): string {
  const { state, sharesState } = call.deployment
  return sharesState ? `state\n${state}\n${app?.id ?? ''}` : `${agent.baseUrl}\n${agentKey(agent, app) ?? ''}`
}

/** It refers to nothing else of the call, because it is kept until the call has ended. */
class Memory implements HeldMemory {
  readonly #releases: (() => void)[] = []

  add(release: () => void): void {
    this.#releases.push(release)
  }

  release(): void {
    for (const release of this.#releases.splice(0)) release()
  }
}
