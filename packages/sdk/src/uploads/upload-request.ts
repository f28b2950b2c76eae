import { ConnectionError } from '../errors.ts'
import { randomId } from '../transport/random-id.ts'
import { LONG_TIMEOUT_MS, type RequestSpec } from '../transport/transport.ts'
import { type FileError, fileError } from './file-error.ts'
import { formAround, multipartStream, piecesOf, type UploadPieces } from './multipart.ts'
import { type OpenSource, openUploadSource, type UploadSource } from './upload-source.ts'
import { hasXhr, xhrFetch } from './xhr-fetch.ts'

/** How far an upload is. */
export interface UploadProgress {
  /** The bytes of the file that were handed to the connection (in browsers: of the whole form). */
  readonly loaded: number
  /** The size, where it is known before the end. */
  readonly total: number | undefined
}

/** What belongs to an uploaded file. */
export interface UploadParams {
  /** A label: on whose behalf the file is uploaded. */
  readonly created_by: string
  /** The end user whom the file is of, as chats name it; with an erasure of this end user it is deleted. */
  readonly end_user?: string | undefined
  /** The name of the file; the default is that of the File or of the path. */
  readonly filename?: string | undefined
  /** The type of the file. The gateway checks the content, not this. */
  readonly content_type?: string | undefined
  /** An agent, whose id is then checked. */
  readonly agent?: string | undefined
  /** Is called as the file is sent. */
  readonly onProgress?: ((progress: UploadProgress) => void) | undefined
}

/** The request of an upload. */
export interface UploadRequest extends RequestSpec {
  /** Closes the source, also where it was not read to its end. */
  readonly close: () => void
  /** Returns the error with which reading the source failed, which `fetch` reports as one of the connection. */
  readonly sourceError: (failure: unknown) => Promise<FileError | undefined>
}

/**
 * Returns the request of an upload. It can be repeated where the bytes can be read again; a stream, as long as nothing was read
 * from it.
 */
export async function uploadRequest(
  source: UploadSource,
  { created_by, end_user, filename, content_type, agent, onProgress }: UploadParams = { created_by: '' },
): Promise<UploadRequest> {
  const content = await openUploadSource(source, content_type ?? 'application/octet-stream')
  const { size: total, closeUnread, type } = content
  const boundary = `trunkline-${randomId()}`
  const fields = { created_by, end_user, filename: filename ?? content.filename, type }
  const form = formAround(fields, boundary)
  let isUntouched = true
  let pieces: UploadPieces | undefined
  let sourceError: FileError | undefined
  async function* read() {
    isUntouched = false
    try {
      yield* content.pieces()
    } catch (cause) {
      sourceError = fileError(cause)
      throw cause
    }
  }
  // The fetch of Node leaves a body open whose response has come early.
  const end = () => void pieces?.return(undefined).catch(() => {})
  const isWhole = hasXhr() || (content.blob && !onProgress)
  // Browsers cannot send streams over HTTP/1, so they read the whole stream first.
  const whole = isWhole && new Blob([form.head, content.blob ?? (await blobOf(content)), form.tail])
  return {
    method: 'POST',
    path: '/upload',
    credential: 'key',
    repeatable: 'advised',
    timeoutMs: LONG_TIMEOUT_MS,
    headers: {
      ...(agent !== undefined && { agent }),
      'content-type': `multipart/form-data; boundary=${boundary}`,
    },
    body(signal) {
      if (whole) return whole
      end()
      pieces = piecesOf(form, read, onProgress && ((loaded) => onProgress({ loaded, total })))
      return multipartStream(pieces, signal)
    },
    canRepeat: () => sourceError === undefined && (isUntouched || closeUnread === undefined),
    close: () => (isUntouched ? closeUnread?.() : end()),
    async sourceError(failure) {
      // Only reading a part of it shows whether a Blob of a file can still be read.
      if (content.blob && failure instanceof ConnectionError)
        await read()
          .next()
          .catch(() => {})
      return sourceError
    },
    ...(hasXhr() && onProgress && { fetch: xhrFetch((loaded, total) => onProgress({ loaded, total })) }),
  }
}

async function blobOf(content: OpenSource): Promise<Blob> {
  const pieces: Uint8Array<ArrayBuffer>[] = []
  for await (const piece of content.pieces()) pieces.push(new Uint8Array(piece))
  return new Blob(pieces)
}
