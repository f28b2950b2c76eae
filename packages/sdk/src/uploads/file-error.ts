import { TrunklineError } from '../errors.ts'
import { textIn } from '../transport/text-in.ts'

/**
 * The file of an upload could not be read, so that nothing was stored. `code` says why: that of the operating system (`ENOENT`,
 * `EACCES`, …), `EISDIR` for all that is no file, or `FILE_CHANGED` where the file was written to while it was sent; `cause` is the error of the runtime.
 *
 * @example
 * ```ts
 * import { FileError } from '@trunkline/sdk'
 *
 * try {
 *   await client.uploads.create('./none.txt', { created_by: 'alice' })
 * } catch (error) {
 *   if (!(error instanceof FileError)) throw error
 *   console.log(error.code, error.message)
 * }
 * ```
 */
export class FileError extends TrunklineError {
  override readonly name = 'FileError'
  /** Why, for programs; undefined where the runtime, or the stream that was given, does not tell. */
  declare readonly code: string | undefined
}

/** Returns the error of a file, or another source, that could not be read. */
export function fileError(cause: unknown): FileError {
  if (cause instanceof FileError) return cause
  const why = textIn(cause, 'message') ?? cause
  return new FileError(`The file cannot be read: ${why}`, { code: textIn(cause, 'code'), cause })
}
