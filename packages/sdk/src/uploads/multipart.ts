import { type BytePiece, bytesOf, encoder, openSource } from '../transport/byte-source.ts'

/** What an upload's form says of its file. */
export interface UploadFields {
  readonly created_by: string
  readonly end_user: string | undefined
  readonly filename: string
  readonly type: string
}

/** The bytes of the file. */
export interface FileContent {
  /** Undefined where it is known only at the end. */
  readonly size?: number
  pieces(): AsyncIterable<Uint8Array | ArrayBuffer>
}

/** The form, but for the bytes of the file between its two parts. */
export interface UploadForm {
  readonly head: string
  readonly tail: string
}

/**
 * Returns the form around a file. `FormData` is not used: it takes only files whose size is known, says nothing of how far it is,
 * and ends a process of Node if reading the file fails.
 */
export function formAround(
  { created_by, end_user, filename, type }: UploadFields,
  boundary: string,
): UploadForm {
  const part = (name: string, more: string) =>
    `--${boundary}\r\ncontent-disposition: form-data; name="${name}"${more}`
  const text = (name: string, value: string) => part(name, `\r\n\r\n${value}\r\n`)
  const file = `; filename="${escaped(filename)}"\r\ncontent-type: ${escaped(type)}\r\n\r\n`
  return {
    head:
      text('created_by', created_by) +
      (end_user === undefined ? '' : text('end_user', end_user)) +
      part('file', file),
    tail: `\r\n--${boundary}--\r\n`,
  }
}

/** Writes the form as a stream. */
export function multipartStream(
  pieces: UploadPieces,
  signal: AbortSignal,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      // What is pulled is sent, so a slow connection slows the source down.
      async pull(controller) {
        // The fetch of Node reads the body of an aborted request on to its end.
        if (signal.aborted) {
          await pieces.return(undefined)
          throw signal.reason
        }
        const { done, value } = await pieces.next()
        if (done === true) controller.close()
        else controller.enqueue(value)
      },
      async cancel() {
        await pieces.return(undefined)
      },
    },
    // The fetch of Node takes one piece before it has a connection: the head of the form, and nothing of the file.
    { highWaterMark: 0 },
  )
}

export type UploadPieces = AsyncGenerator<Uint8Array<ArrayBuffer>, undefined>

/**
 * The bytes of the form, piece by piece.
 *
 * @param onBytes called with the number of bytes of the file that were handed to the connection
 */
export async function* piecesOf(
  { head, tail }: UploadForm,
  read: () => AsyncIterable<Uint8Array | ArrayBuffer>,
  onBytes?: (loaded: number) => void,
): UploadPieces {
  yield encoder.encode(head)
  let loaded = 0
  onBytes?.(loaded)
  for await (const piece of read()) {
    // Empty pieces would end a chunked body early in some runtimes.
    if (piece.byteLength === 0) continue
    yield new Uint8Array(piece)
    loaded += piece.byteLength
    onBytes?.(loaded)
  }
  yield encoder.encode(tail)
}

/** As browsers escape the names of a form (HTML, "multipart/form-data encoding algorithm"). */
const escaped = (text: string): string =>
  text.replaceAll('\r', '%0D').replaceAll('\n', '%0A').replaceAll('"', '%22')

/** Reads a stream, and closes it also where the upload ends early. */
export async function* chunksOf(
  source: ReadableStream<BytePiece> | AsyncIterable<BytePiece>,
): AsyncGenerator<Uint8Array | ArrayBuffer, undefined> {
  const bytes = openSource(source)
  try {
    for (;;) {
      const { done, value } = await bytes.read()
      if (done === true) return
      yield bytesOf(value)
    }
  } finally {
    bytes.cancel()
  }
}
