import { TrunklineError } from '../errors.ts'
import { textIn } from '../transport/text-in.ts'
import { fileSource } from './file-source.ts'
import { chunksOf, type FileContent } from './multipart.ts'

/**
 * What can be uploaded: a File or Blob, bytes (a Buffer is one), a stream of the web or of Node, or, in Node, Deno and Bun, the
 * path of a file.
 */
export type UploadSource =
  | Blob
  | Uint8Array
  | ArrayBuffer
  | ReadableStream<Uint8Array>
  | AsyncIterable<Uint8Array>
  | string

/** A source with its own name, type and bytes. */
export interface OpenSource extends FileContent {
  readonly filename: string
  readonly type: string
  /** All bytes, where they are in hand. */
  readonly blob?: Blob
  /** Closes what can be read only once, if nothing was read from it: its iterator would leave it open. */
  readonly closeUnread?: () => void
}

/**
 * Finds out what was given.
 *
 * @param type the type of what does not know its own
 * @throws FileError if it is a path, and the file cannot be read
 */
export async function openUploadSource(source: UploadSource, type: string): Promise<OpenSource> {
  if (typeof source === 'string') return { filename: nameIn(source), type, ...(await fileSource(source)) }
  if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) source = new Blob([source as ArrayBuffer])
  if (source instanceof Blob) {
    const filename = textIn(source, 'name') ?? 'file'
    return {
      filename,
      type: source.type || type,
      size: source.size,
      blob: source,
      pieces: () => chunksOf(source.stream()),
    }
  }
  if (!('getReader' in Object(source) || Symbol.asyncIterator in Object(source)))
    throw new TrunklineError('The file must be a File, Blob, bytes, stream or path.')
  // It may fail before anything is read from it, which would end a process of Node; the reading then fails.
  if ('on' in source && typeof source.on === 'function') source.on('error', () => {})
  return {
    // A stream of a file knows where it reads from.
    filename: nameIn(textIn(source, 'path') ?? '') || 'file',
    type,
    pieces: () => chunksOf(source),
    closeUnread: () => closeUnread(source),
  }
}

function closeUnread(stream: ReadableStream | AsyncIterable<unknown>): void {
  if ('getReader' in stream) stream.cancel().catch(() => {})
  else if ('destroy' in stream && typeof stream.destroy === 'function') stream.destroy()
  else
    stream[Symbol.asyncIterator]()
      .return?.()
      .catch(() => {})
}

function nameIn(path: string): string {
  return path.split(/[\\/]/).pop() ?? ''
}
