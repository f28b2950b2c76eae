/** The parts of an upload's form. */
export interface UploadParts {
  readonly createdBy: string
  readonly filename: string
  readonly contentType: string
  /** Returns the bytes of the file. */
  readonly open: () => AsyncIterable<Uint8Array>
  /** Is told how many bytes of the file were handed to the connection. */
  readonly onBytes?: ((loaded: number) => void) | undefined
}

const encoder = new TextEncoder()

/**
 * Writes the form as a stream. `FormData` cannot: it takes only files whose size is known, and says nothing of how far it is.
 */
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

/** The bytes of the form, piece by piece. */
export async function* piecesOf(
  { createdBy, filename, contentType, open, onBytes }: UploadParts,
  boundary: string,
): UploadPieces {
  yield encoder.encode(
    `--${boundary}\r\ncontent-disposition: form-data; name="created_by"\r\n\r\n${createdBy}\r\n` +
      `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="${escaped(filename)}"\r\n` +
      `content-type: ${escaped(contentType)}\r\n\r\n`,
  )
  let loaded = 0
  onBytes?.(loaded)
  for await (const piece of open()) {
    // Empty pieces would end a chunked body early in some runtimes.
    if (piece.byteLength === 0) continue
    yield new Uint8Array(piece)
    loaded += piece.byteLength
    onBytes?.(loaded)
  }
  yield encoder.encode(`\r\n--${boundary}--\r\n`)
}

/** As browsers escape the names of a form (HTML, "multipart/form-data encoding algorithm"). */
const escaped = (text: string): string =>
  text.replaceAll('\r', '%0D').replaceAll('\n', '%0A').replaceAll('"', '%22')

/** Streams of Node may be of texts. */
function bytesOf(piece: Uint8Array | string): Uint8Array {
  return typeof piece === 'string' ? encoder.encode(piece) : piece
}

/** Reads a web stream without its async iterator, which Safari does not have. */
export async function* chunksOf(
  source: ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, undefined> {
  if (!('getReader' in source)) {
    for await (const piece of source) yield bytesOf(piece)
    return
  }
  const reader = source.getReader()
  let isDone = false
  try {
    for (;;) {
      const { done, value } = await reader.read()
      isDone = done
      if (done) return
      yield bytesOf(value)
    }
  } finally {
    // An upload that ended early must not leave its source open.
    if (!isDone) await reader.cancel().catch(() => {})
    reader.releaseLock()
  }
}
