import type { Sql } from '#core/database/database.ts'
import { Problem } from '#core/errors.ts'
import { hashKey } from '#core/keys/key-format.ts'
import type { KeyWatch } from '#core/keys/key-watch.ts'
import type { AdmissionService } from '#core/ledger/admission.ts'
import type { Admitted, CallOutcome, Ledger } from '#core/ledger/ledger.ts'
import type { OnLimit } from '#core/limits/limits.ts'
import { problemOf } from '#core/problem-of.ts'
import type { Runtime } from '#core/runtime.ts'
import type { Upload } from '#generated/prisma/client.ts'
import { shownName, urlName } from './content/file-name.ts'
import { type CheckType, SAMPLE_BYTES } from './content/file-type.ts'
import { IncomingFile, refuseEmptyFile, type SizeBound } from './incoming-file.ts'
import { newToken } from './storage/file-address.ts'
import { type FileStorage, StorageError } from './storage/storage.ts'
import {
  type FilePart,
  refusePart,
  requireCreatedBy,
  type UploadPart,
  type UploadRequest,
} from './upload-request.ts'
import { insertUpload, type NewUpload, spaceDetail, spaceLeft, type UploadBounds } from './upload-rows.ts'
import { UploadEnded, type UploadTimes, UploadWaits } from './upload-waits.ts'

export interface ReceiveDeps {
  readonly sql: Sql
  readonly storage: FileStorage
  readonly admission: AdmissionService
  readonly keyWatch: KeyWatch
  readonly ledger: Pick<Ledger, 'settle'>
  readonly runtime: Runtime
  readonly checkType: CheckType
  /** What the tokens of this installation begin with. */
  installation(): string
  readonly bounds: UploadBounds & { readonly maxBytes: number }
  readonly times: UploadTimes
  readonly observer: UploadObserver
}

export interface UploadObserver {
  started(): void
  /** Called once for every admitted upload. `error` is set if the storage or the gateway failed. */
  ended(end: UploadEnd): void
}

export interface UploadEnd {
  readonly callId: string
  readonly requestId: string
  readonly agent: string
  readonly outcome: CallOutcome
  readonly problem: Problem | undefined
  readonly bytes: number
  readonly durationMs: number
}

/** Receives what a face sends as headers, as soon as it is known. */
export interface UploadNews {
  onLimit: OnLimit
  /** The id under which the ledger records the upload. */
  onAdmitted(callId: string): void
}

/** An upload that was admitted, and what is known of it so far. */
interface Current {
  readonly callId: string
  readonly admitted: Admitted
  readonly startedMs: number
  readonly file: IncomingFile
}

/**
 * One upload from its first part to its record. The call is admitted at the first byte of the file, since until then there
 * is nothing to count. What is refused after that is settled as `rejected`, and nothing of the file remains.
 */
export class ReceivedUpload {
  readonly #deps: ReceiveDeps
  readonly #request: UploadRequest
  readonly #agent: string
  readonly #news: UploadNews
  readonly #waits: UploadWaits
  #current: Current | undefined
  #endWatch: (() => void) | undefined

  constructor(deps: ReceiveDeps, request: UploadRequest, agent: string, news: UploadNews) {
    this.#deps = deps
    this.#request = request
    this.#agent = agent
    this.#news = news
    this.#waits = new UploadWaits(deps.times)
  }

  /** Ends the upload early; {@link receive} then rejects with the problem. */
  end(outcome: CallOutcome, problem: Problem): void {
    this.#waits.end(new UploadEnded(outcome, problem))
  }

  /** @throws Problem */
  async receive(parts: AsyncIterator<UploadPart>): Promise<Upload> {
    let stored: Omit<NewUpload, 'createdBy'> | undefined
    try {
      let createdBy: string | undefined
      for (;;) {
        const { done, value: part } = await this.#waits.forClient(parts.next())
        if (done === true) break
        if (part.kind === 'field' && part.name === 'created_by' && createdBy === undefined) {
          createdBy = requireCreatedBy(part.value)
        } else if (part.kind === 'file' && part.name === 'file' && stored === undefined) {
          stored = await this.#store(part)
        } else {
          refuseRepetition(part)
          refusePart(part)
        }
      }
      const file = stored ?? refuseMissingFile()
      const upload = await insertUpload(
        this.#deps.sql,
        { ...file, createdBy: requireCreatedBy(createdBy) },
        this.#deps.bounds,
      )
      this.#settle('done', undefined)
      return upload
    } catch (error) {
      if (stored !== undefined) await this.#remove(stored)
      throw this.#fail(error)
    } finally {
      this.#waits.close()
      this.#endWatch?.()
    }
  }

  async #store(part: FilePart): Promise<Omit<NewUpload, 'createdBy'>> {
    const { storage, runtime, checkType } = this.#deps
    const file = new IncomingFile(part, this.#waits)
    if (!(await file.begin())) refuseEmptyFile()
    const { callId, admitted } = await this.#admit(file)
    const filename = shownName(part.filename)
    const type = await checkType(await file.sample(SAMPLE_BYTES), filename)
    const address = {
      token: newToken(runtime, this.#deps.installation()),
      name: urlName(filename, type.extension),
    }
    const { mediaType, isAttachment } = type
    const content = file.content(await this.#sizeBound(admitted.ownerId), type.text)
    const { signal } = this.#waits
    await this.#waits.until(storage.write({ ...address, mediaType, isAttachment }, content, signal))
    this.#waits.stopStoring()
    return {
      id: runtime.newId(),
      callId,
      token: address.token,
      urlName: address.name,
      filename,
      mediaType,
      size: BigInt(file.bytes),
      sha256: file.sha256(),
      ...admitted,
      agent: this.#agent,
    }
  }

  async #admit(file: IncomingFile): Promise<Current> {
    const { admission, keyWatch, runtime, observer } = this.#deps
    const { credential, requestId, face, address } = this.#request
    const callId = runtime.newId()
    const admitted = await admission.admit(
      {
        ...{
          callId,
          requestId,
          face,
          address,
          keyHash: hashKey(credential),
          kind: 'upload',
          agent: this.#agent,
        },
        ...{ app: '', endUser: '', conversation: '' },
      },
      this.#news.onLimit,
    )
    this.#endWatch = keyWatch.watch(admitted, (reason) => this.end('rejected', new Problem(reason)))
    this.#news.onAdmitted(callId)
    observer.started()
    this.#current = { callId, admitted, startedMs: runtime.elapsedMs(), file }
    return this.#current
  }

  async #sizeBound(ownerId: string): Promise<SizeBound> {
    const { sql, bounds } = this.#deps
    const left = await spaceLeft(sql, ownerId, bounds)
    return left < bounds.maxBytes
      ? { bytes: left, reason: 'upload_space_used_up', detail: spaceDetail(bounds.bytesPerOwnerMax) }
      : {
          bytes: bounds.maxBytes,
          reason: 'body_too_large',
          detail: `expected at most ${bounds.maxBytes} bytes.`,
        }
  }

  /** If this fails, the sweep finds a file without a record. */
  async #remove({ token, urlName: name }: Pick<NewUpload, 'token' | 'urlName'>): Promise<void> {
    await this.#deps.storage.remove([{ token, name }]).catch(() => undefined)
  }

  #fail(error: unknown): Problem {
    const problem = toProblem(error)
    // A client that left gets no error, so its call has no reason, as in a chat.
    if (error instanceof UploadEnded && error.outcome === 'client_gone')
      this.#settle(error.outcome, undefined)
    else if (error instanceof UploadEnded) this.#settle(error.outcome, problem)
    else this.#settle(problem.status < 500 ? 'rejected' : 'upstream_error', problem)
    return problem
  }

  #settle(outcome: CallOutcome, problem: Problem | undefined): void {
    if (this.#current === undefined) return
    const { callId, startedMs, file } = this.#current
    const { runtime, ledger, observer } = this.#deps
    const durationMs = runtime.elapsedMs() - startedMs
    ledger.settle({ callId, outcome, durationMs, reason: problem?.reason })
    const { requestId } = this.#request
    observer.ended({ callId, requestId, agent: this.#agent, outcome, problem, bytes: file.bytes, durationMs })
  }
}

/** Seconds after which a storage that failed is worth another try. */
const STORAGE_RETRY_AFTER_SECONDS = 5

function toProblem(error: unknown): Problem {
  if (error instanceof UploadEnded) return error.problem
  if (!(error instanceof StorageError)) return problemOf(error)
  return new Problem('unavailable', {
    detail: 'The file could not be stored.',
    retryAfterSeconds: STORAGE_RETRY_AFTER_SECONDS,
    cause: error,
  })
}

function refuseRepetition({ kind, name }: UploadPart): void {
  const isRepetition = (kind === 'file' && name === 'file') || (kind === 'field' && name === 'created_by')
  if (isRepetition) {
    throw new Problem('invalid_request', {
      field: [name === 'file' ? 'file' : 'createdBy'],
      detail: 'was sent twice; expected it once.',
    })
  }
}

function refuseMissingFile(): never {
  throw new Problem('invalid_request', { field: ['file'], detail: 'is required; expected one file.' })
}
