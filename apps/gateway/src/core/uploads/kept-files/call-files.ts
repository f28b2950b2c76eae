import type { Agent } from '#core/agents/adapter.ts'
import { ClientGone } from '#core/base/errors/client-gone.ts'
import { Problem } from '#core/base/errors/errors.ts'
import { parseUrl } from '#core/base/values/parse-url.ts'
import { DISK_FULL, type DiskSpace } from '#core/database/disk/disk-space.ts'
import type { OwnerTurns } from '#core/limits/sharing/owner-turns.ts'
import { type FileSource, IncomingFile } from '#core/uploads/incoming/incoming-file.ts'
import {
  removeStored,
  type StoreDeps,
  type StoredContent,
  storeFile,
} from '#core/uploads/incoming/store-file.ts'
import { UploadEnded, type UploadTimes, UploadWaits } from '#core/uploads/incoming/upload-waits.ts'
import { insertUpload } from '#core/uploads/upload-rows.ts'
import { addressOf } from '#core/uploads/uploads.ts'
import type { Upload } from '#generated/prisma/client.ts'
import { type NamedFile, requireExpectedType } from './expected-type.ts'
import type { FetchingAgent, FileFetcher } from './fetch-file.ts'
import { NotKept, notKept } from './not-kept.ts'

/** A file as a platform has named it. */
export interface AgentMadeFile extends NamedFile {
  /** Absolute. It is not used where the bytes are given. */
  readonly url?: string | undefined
  readonly bytes?: Uint8Array | undefined
}

export interface KeepingCall {
  readonly callId: string
  readonly keyId: string
  readonly ownerId: string
  readonly endUser: string
  /** As the deployment serves it that has made the files. */
  readonly agent: FetchingAgent & Pick<Agent, 'id'>
  /** Aborts when the call ends. */
  readonly signal: AbortSignal
}

/** An upload that was made of a file. */
export interface KeptFile {
  readonly url: string
  /** With an extension of its type. */
  readonly name: string
  readonly mediaType: string
  readonly size: number
}

/** A file that was not kept, for the log. */
export interface FileNotKept {
  readonly callId: string
  readonly agentId: string
  readonly reason: NotKept['reason']
  readonly detail: string
  /** The origin of the platform's URL; the rest of it may be a secret. */
  readonly origin: string | undefined
  readonly cause: unknown
}

export interface KeepingParts extends StoreDeps {
  readonly space: Pick<DiskSpace, 'isLow'>
  readonly times: UploadTimes
  readonly fetcher: FileFetcher
  readonly turns: OwnerTurns
  observe(file: FileNotKept): void
}

export const KEPT_FILES_MAX = 20

/** What keeps the files of one call, which are counted. */
export class CallFiles {
  readonly #parts: KeepingParts
  readonly #call: KeepingCall
  #count = 0

  constructor(parts: KeepingParts, call: KeepingCall) {
    this.#parts = parts
    this.#call = call
  }

  /**
   * Fetches a file, unless its bytes are given, and stores it. Resolves with undefined if it could not be kept, which the observer
   * is told, or if the call has ended. It never rejects.
   */
  async keep(file: AgentMadeFile): Promise<KeptFile | undefined> {
    const { callId, agent, signal } = this.#call
    try {
      this.#count += 1
      if (this.#count > KEPT_FILES_MAX)
        throw new NotKept('too_many_files', `the call has more than ${KEPT_FILES_MAX} files`)
      return await this.#keepInTurn(file)
    } catch (error) {
      // Nobody waits for the file of a call that has ended.
      if (signal.aborted) return undefined
      const { reason, message: detail, cause } = notKept(error)
      const origin = parseUrl(file.url ?? '')?.origin
      this.#parts.observe({ callId, agentId: agent.id, reason, detail, origin, cause })
      return undefined
    }
  }

  async #keepInTurn(file: AgentMadeFile): Promise<KeptFile> {
    const { space, turns, runtime, times, storage } = this.#parts
    const { ownerId, signal } = this.#call
    if (space.isLow) throw new Problem('unavailable', DISK_FULL)
    const askedMs = runtime.elapsedMs()
    // The files of a call wait in one place, since they have one signal.
    const endTurn = await turns.take({ owner: ownerId, signal })
    const leftMs = Math.max(1, times.timeoutMs - (runtime.elapsedMs() - askedMs))
    const waits = new UploadWaits({ ...times, timeoutMs: leftMs })
    const gone = () => waits.end(new UploadEnded('client_gone', new ClientGone()))
    if (signal.aborted) gone()
    else signal.addEventListener('abort', gone, { once: true })
    try {
      const upload = await this.#store(file, waits)
      const url = await storage.urlOf(addressOf(upload), upload.expiresAt)
      return { url, name: upload.urlName, mediaType: upload.mediaType, size: Number(upload.size) }
    } finally {
      signal.removeEventListener('abort', gone)
      waits.close()
      endTurn()
    }
  }

  async #store(file: AgentMadeFile, waits: UploadWaits): Promise<Upload> {
    const { sql, bounds } = this.#parts
    const { callId, keyId, ownerId, endUser, agent } = this.#call
    const content = await this.#receive(file, waits)
    try {
      waits.signal.throwIfAborted()
      const row = { callId, keyId, ownerId, endUser, agent: agent.id, createdBy: `agent:${agent.id}` }
      return await insertUpload(sql, { ...content, ...row }, bounds)
    } catch (error) {
      await removeStored(this.#parts, content)
      throw error
    }
  }

  async #receive(file: AgentMadeFile, waits: UploadWaits): Promise<StoredContent> {
    const { storage } = this.#parts
    const source = file.bytes === undefined ? await this.#fetch(file, waits) : sourceOf(file.bytes)
    try {
      const incoming = new IncomingFile(source, waits)
      if (!(await incoming.begin())) throw new NotKept('empty', 'it is empty')
      const content = await storeFile(this.#parts, incoming, {
        filename: file.name ?? nameIn(file.url),
        ownerId: this.#call.ownerId,
        async write(newFile, bytes) {
          requireExpectedType(newFile.mediaType, file, source.servedAs)
          await waits.until(storage.write(newFile, bytes, waits.signal))
        },
      })
      waits.stopStoring()
      return content
    } finally {
      source.close()
    }
  }

  #fetch({ url }: AgentMadeFile, waits: UploadWaits) {
    const { fetcher, bounds } = this.#parts
    if (url === undefined) throw new NotKept('no_http_url', 'it has neither a URL nor a content')
    return waits.until(fetcher.fetch(url, this.#call.agent, bounds.maxBytes, waits.signal))
  }
}

/** What is hashed and written in one go: other calls run in between. */
const SLICE_BYTES = 64 * 1024

function sourceOf(bytes: Uint8Array): FileSource & { readonly servedAs: string; close(): void } {
  async function* slices() {
    for (let at = 0; at < bytes.length; at += SLICE_BYTES) {
      const slice = bytes.subarray(at, at + SLICE_BYTES)
      yield Buffer.from(slice.buffer, slice.byteOffset, slice.length)
    }
  }
  return { body: slices(), problemOf: notKept, servedAs: '', close: () => undefined }
}

/** The last part of the path, which platforms often name after the file. */
function nameIn(url: string | undefined): string | undefined {
  const last = parseUrl(url ?? '')
    ?.pathname.split('/')
    .at(-1)
  try {
    return last && decodeURIComponent(last)
  } catch {
    return last
  }
}
