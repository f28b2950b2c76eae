import { hashKey } from '#core/accounts/keys/key-format.ts'
import type { KeyWatch } from '#core/accounts/keys/key-watch.ts'
import { ClientGone } from '#core/base/errors/client-gone.ts'
import { type ErrorReason, Problem } from '#core/base/errors/errors.ts'
import { problemOf } from '#core/base/errors/problem-of.ts'
import type { AdmissionService } from '#core/calls/admission.ts'
import type { CallObserver, CallRecord, Settled } from '#core/calls/call-events.ts'
import type { EndedEarly, RunningCall } from '#core/calls/running-call.ts'
import type { Admitted } from '#core/ledger/admission-row.ts'
import type { CallOutcome } from '#core/ledger/call-kinds.ts'
import { allOf } from '#core/requests/input/all-of.ts'
import { IncomingFile, refuseEmptyFile } from '#core/uploads/incoming/incoming-file.ts'
import { removeStored, type StoreDeps, storeFile } from '#core/uploads/incoming/store-file.ts'
import { UploadEnded, type UploadTimes, UploadWaits } from '#core/uploads/incoming/upload-waits.ts'
import { type NewFile, StorageError } from '#core/uploads/storage/storage.ts'
import {
  type FilePart,
  refusePart,
  requireCreatedBy,
  requireUploadUser,
  type UploadPart,
  type UploadRequest,
} from '#core/uploads/upload-request.ts'
import { insertUpload, type NewUpload } from '#core/uploads/upload-rows.ts'
import type { Upload } from '#generated/prisma/client.ts'

export interface ReceiveDeps extends StoreDeps {
  readonly admission: AdmissionService
  readonly keyWatch: KeyWatch
  readonly times: UploadTimes
  readonly observe: CallObserver
}

/** An upload of a caller who may make it. */
export interface AcceptedUpload extends UploadRequest {
  /** The id of the agent; empty if it names none. */
  readonly agent: string
  /** The end user to whom the caller is bound, whatever the form says. */
  readonly boundTo: string | undefined
}

/** An upload that was admitted, and what is known of it so far. */
interface Current {
  readonly record: CallRecord
  readonly admitted: Admitted
  readonly startedMs: number
  readonly file: IncomingFile
}

/** An upload whose file is in the storage; the form may still say who has made it and for whom. */
type StoredUpload = Omit<NewUpload, 'createdBy' | 'endUser'>

/**
 * One upload from its first part to its record. The call is admitted at the first byte of the file, since until then there
 * is nothing to count. What is refused after that is settled as `rejected`, and nothing of the file remains.
 */
export class ReceivedUpload implements RunningCall {
  readonly #deps: ReceiveDeps
  readonly #request: AcceptedUpload
  readonly #observer: CallObserver | undefined
  readonly #waits: UploadWaits
  #current: Current | undefined
  #endWatch: (() => void) | undefined

  /** @param observer - follows the upload until it is admitted */
  constructor(deps: ReceiveDeps, request: AcceptedUpload, observer: CallObserver | undefined) {
    this.#deps = deps
    this.#request = request
    this.#observer = observer
    this.#waits = new UploadWaits(deps.times)
  }

  /** {@link receive} then rejects with the reason. */
  end(outcome: EndedEarly, reason: ErrorReason = 'draining'): void {
    const problem = outcome === 'client_gone' ? new ClientGone() : new Problem(reason)
    this.#waits.end(new UploadEnded(outcome, problem))
  }

  /** @throws Problem */
  async receive(parts: AsyncIterator<UploadPart>): Promise<Upload> {
    let stored: StoredUpload | undefined
    try {
      let createdBy: string | undefined
      let endUser: string | undefined
      for (;;) {
        const { done, value: part } = await this.#waits.forClient(parts.next())
        if (done === true) break
        if (part.kind === 'field' && part.name === 'created_by' && createdBy === undefined) {
          createdBy = requireCreatedBy(part.value)
        } else if (part.kind === 'field' && part.name === 'end_user' && endUser === undefined) {
          endUser = requireUploadUser(part.value)
        } else if (part.kind === 'file' && part.name === 'file' && stored === undefined) {
          stored = await this.#store(part)
        } else {
          refuseRepetition(part)
          refusePart(part)
        }
      }
      const { file, ...label } = allOf({
        file: () => stored ?? refuseMissingFile(),
        createdBy: () => requireCreatedBy(createdBy),
      })
      const named = { ...label, endUser: this.#request.boundTo ?? endUser ?? '' }
      const upload = await insertUpload(this.#deps.sql, { ...file, ...named }, this.#deps.bounds)
      this.#settle('done', undefined)
      return upload
    } catch (error) {
      if (stored !== undefined) await removeStored(this.#deps, stored)
      throw this.#fail(error)
    } finally {
      this.#waits.close()
      this.#endWatch?.()
    }
  }

  async #store(part: FilePart): Promise<StoredUpload> {
    const file = new IncomingFile(part, this.#waits)
    if (!(await file.begin())) refuseEmptyFile()
    const { record, admitted } = await this.#admit(file)
    const content = await storeFile(this.#deps, file, {
      filename: part.filename,
      ownerId: admitted.ownerId,
      write: (newFile, bytes) => this.#write(record, newFile, bytes),
    })
    this.#waits.stopStoring()
    return { ...content, callId: record.callId, ...admitted, agent: this.#request.agent }
  }

  async #write(call: CallRecord, file: NewFile, content: AsyncIterable<Uint8Array>): Promise<void> {
    const { storage, observe } = this.#deps
    let isStored = false
    observe({ type: 'storing_started', call, storage: storage.kind })
    try {
      await this.#waits.until(storage.write(file, content, this.#waits.signal))
      isStored = true
    } finally {
      observe({ type: 'storing_ended', call, bytes: this.#current?.file.bytes ?? 0, isStored })
    }
  }

  async #admit(file: IncomingFile): Promise<Current> {
    const { admission, keyWatch, runtime } = this.#deps
    const { credential, requestId, face, address, agent, boundTo, trace } = this.#request
    const { record, keyId, ownerId } = await admission.admit(
      {
        callId: runtime.newId(),
        requestId,
        kind: 'upload',
        face,
        address,
        keyHash: hashKey(credential),
        agent,
        app: '',
        endUser: boundTo ?? '',
        conversation: '',
        trace,
      },
      { observer: this.#observer },
    )
    const admitted = { keyId, ownerId }
    const inUse = { ...admitted, callId: record.callId, address }
    this.#endWatch = keyWatch.watch(inUse, (reason) => this.end('rejected', reason))
    this.#current = { record, admitted, startedMs: runtime.elapsedMs(), file }
    return this.#current
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
    if (this.#current !== undefined) {
      const { record, startedMs, file } = this.#current
      const durationMs = this.#deps.runtime.elapsedMs() - startedMs
      const settled: Settled = {
        outcome,
        durationMs,
        bytes: file.bytes,
        ...(problem !== undefined && { failure: { reason: problem.reason }, cause: problem.cause }),
      }
      this.#deps.observe({ type: 'settled', call: record, settled })
    } else problem?.refusing({ agent: this.#request.agent })
  }
}

/** Seconds after which a storage that failed is worth another try. */
const STORAGE_RETRY_AFTER_SECONDS = 5

function toProblem(error: unknown): Problem {
  if (error instanceof UploadEnded) return error.problem
  if (!(error instanceof StorageError)) return problemOf(error)
  return new Problem('unavailable', {
    detail: 'The file could not be stored.',
    limit: 'storage',
    retryAfterSeconds: STORAGE_RETRY_AFTER_SECONDS,
    cause: error,
  })
}

/** The texts of the form, by core's names. */
const FIELDS: ReadonlyMap<string, string> = new Map([
  ['created_by', 'createdBy'],
  ['end_user', 'endUser'],
])

function refuseRepetition({ kind, name }: UploadPart): void {
  const field = kind === 'file' ? (name === 'file' ? 'file' : undefined) : FIELDS.get(name)
  if (field !== undefined) {
    throw new Problem('invalid_request', {
      field: [field],
      detail: 'was sent twice; expected it once.',
    })
  }
}

function refuseMissingFile(): never {
  throw new Problem('invalid_request', { field: ['file'], detail: 'is required; expected one file.' })
}
