import type { ErrorReason } from '#core/base/errors/errors.ts'
import { problemOf } from '#core/base/errors/problem-of.ts'
import { UploadEnded } from '#core/uploads/incoming/upload-waits.ts'
import { StorageError } from '#core/uploads/storage/storage.ts'

/** Why a file was not kept: the reasons for which an upload is refused, and what can be wrong with a URL or an answer. */
export type NotKeptReason =
  | 'bad_response'
  | 'behind_proxy'
  | 'empty'
  | 'no_http_url'
  | 'private_address'
  | 'too_many_files'
  | 'too_slow'
  | 'unreachable'
  | 'wrong_type'
  | ErrorReason

/** The file keeps the platform's URL. The message is for operators; it contains neither a path nor a query of a URL. */
export class NotKept extends Error {
  readonly reason: NotKeptReason

  constructor(reason: NotKeptReason, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'NotKept'
    this.reason = reason
  }
}

/** Converts whatever ended the keeping of a file. */
export function notKept(error: unknown): NotKept {
  if (error instanceof NotKept) return error
  if (error instanceof UploadEnded) return new NotKept('too_slow', error.problem.detail)
  if (error instanceof StorageError)
    return new NotKept('unavailable', 'it could not be stored', { cause: error })
  const { reason, detail, cause } = problemOf(error)
  // What arrives and stops is an invalid request of a client, but a slow answer of a platform.
  return new NotKept(reason === 'invalid_request' ? 'too_slow' : reason, detail, { cause })
}
