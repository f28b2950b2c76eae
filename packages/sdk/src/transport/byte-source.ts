import { type ErrorFields, InvalidResponseError } from '../errors.ts'

/** One piece of a body. Strings and empty pieces come from fetch implementations that are not quite the standard's. */
export type BytePiece = Uint8Array | ArrayBuffer | string | null | undefined

/** A body that is read piece by piece. */
export interface ByteSource {
  read(): Promise<IteratorResult<BytePiece, unknown>>
  /** Ends the body, which cancels its request, and ends a read that waits. Whether cancelling succeeds is of no interest. */
  cancel(): void
}

/** Opens a stream of the web standard, or anything that can be iterated, such as a stream of Node. */
export function openSource(source: ReadableStream<BytePiece> | AsyncIterable<BytePiece>): ByteSource {
  // A reader is faster than the iterator of the same stream, which not every browser has.
  return 'getReader' in source ? readerOf(source) : iteratorOf(source)
}

/**
 * Opens the body of a response. The `fetch` of React Native, among others, has none.
 *
 * @throws InvalidResponseError
 */
export function openBody(
  body: Parameters<typeof openSource>[0] | null | undefined,
  fields: ErrorFields,
): ByteSource {
  try {
    return openSource(body as Parameters<typeof openSource>[0])
  } catch (cause) {
    throw new InvalidResponseError(
      'The response has no stream, or another reader: pass a streaming `fetch`, such as expo/fetch.',
      { ...fields, cause },
    )
  }
}

function readerOf(source: ReadableStream<BytePiece>): ByteSource {
  const reader = source.getReader()
  return {
    read: () => reader.read(),
    cancel() {
      reader.cancel().catch(ignore)
    },
  }
}

function iteratorOf(source: AsyncIterable<BytePiece>): ByteSource {
  const iterator = source[Symbol.asyncIterator]()
  let interrupt: (() => void) | undefined
  return {
    read: () =>
      new Promise((resolve, reject) => {
        // A generator that waits answers `return` only after that, so that the read ends without it.
        interrupt = () => resolve({ done: true, value: undefined })
        iterator.next().then(resolve, reject)
      }),
    cancel() {
      interrupt?.()
      iterator.return?.().catch(ignore)
    },
  }
}

export const encoder = new TextEncoder()

export function bytesOf(piece: BytePiece): Uint8Array | ArrayBuffer {
  return typeof piece === 'object' && piece ? piece : encoder.encode(piece ?? '')
}

function ignore(): void {}
