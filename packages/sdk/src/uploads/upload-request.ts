import { TrunklineError } from '../errors.ts'
import { textIn } from '../transport/text-in.ts'
import { LONG_TIMEOUT_MS, type RequestSpec } from '../transport/transport.ts'
import { chunksOf, multipartStream, piecesOf, type UploadPieces } from './multipart.ts'
import { hasXhr, xhrFetch } from './xhr-fetch.ts'

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
  /** The name of the file; the default is that of the File or of the path. */
  readonly filename?: string | undefined
  /** The type of the file. The gateway checks the content, not this. */
  readonly content_type?: string | undefined
  /** An agent, whose id is then checked. */
  readonly agent?: string | undefined
  /** Is called as the file is sent. */
  readonly onProgress?: ((progress: UploadProgress) => void) | undefined
}

type Stream = ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>

/** The request of an upload. */
export interface UploadRequest extends RequestSpec {
  /** Closes a source that was given as a stream and was not read to its end. */
  readonly discard?: () => void
  /** Returns the error with which reading the source failed, which `fetch` reports as one of the connection. */
  readonly sourceError?: () => TrunklineError | undefined
}

/**
 * Returns the request of an upload. It can be repeated where the bytes can be read again; a stream, as long as nothing was read
 * from it.
 */
export async function uploadRequest(
  source: UploadSource,
  params: UploadParams = { created_by: '' },
): Promise<UploadRequest> {
  const { filename, content, type } = await open(source, params.content_type ?? 'application/octet-stream')
  const agent = params.agent === undefined ? {} : { agent: params.agent }
  const form: Pick<RequestSpec, 'method' | 'path' | 'credential' | 'repeatable' | 'timeoutMs'> = {
    method: 'POST',
    path: '/upload',
    credential: 'key',
    repeatable: 'advised',
    timeoutMs: LONG_TIMEOUT_MS,
  }
  const named = { createdBy: params.created_by, filename: params.filename ?? filename, contentType: type }
  const { onProgress } = params
  const isStream = !(content instanceof Blob)
  if (hasXhr() || (!isStream && onProgress === undefined)) {
    // Browsers cannot send streams over HTTP/1, so they read the whole stream first.
    const blob = isStream ? await collect(content, type) : content
    const xhr = onProgress && xhrFetch((loaded, total) => onProgress({ loaded, total }))
    const body = () => {
      const data = new FormData()
      data.set('created_by', named.createdBy)
      data.set('file', new File([blob], named.filename, { type }))
      return data
    }
    return { ...form, headers: agent, body, ...(hasXhr() && { fetch: xhr }) }
  }
  const total = isStream ? undefined : content.size
  const boundary = `trunkline-${crypto.randomUUID()}`
  let isUntouched = true
  let pieces: UploadPieces | undefined
  let sourceError: TrunklineError | undefined
  const parts = {
    ...named,
    open() {
      isUntouched = false
      return readable(isStream ? content : content.stream(), (error) => {
        sourceError = error
      })
    },
    onBytes: onProgress && ((loaded: number) => onProgress({ loaded, total })),
  }
  return {
    ...form,
    headers: { ...agent, 'content-type': `multipart/form-data; boundary=${boundary}` },
    sourceError: () => sourceError,
    body(signal) {
      pieces = piecesOf(parts, boundary)
      return multipartStream(pieces, signal)
    },
    ...(isStream && {
      canRepeat: () => isUntouched,
      // The fetch of Node leaves a body open whose response has come early.
      discard: () => (isUntouched ? closeUnread(content) : void pieces?.return(undefined).catch(() => {})),
    }),
  }
}

async function* readable(
  source: Stream,
  onError: (error: TrunklineError) => void,
): AsyncGenerator<Uint8Array, undefined> {
  try {
    yield* chunksOf(source)
  } catch (cause) {
    onError(
      new TrunklineError(`The file cannot be read: ${textIn(cause, 'code') ?? String(cause)}`, { cause }),
    )
    throw cause
  }
  return undefined
}

/** The iterator of a stream that nothing was read from would leave it open. */
function closeUnread(stream: Stream): void {
  if ('getReader' in stream) stream.cancel().catch(() => {})
  else if ('destroy' in stream && typeof stream.destroy === 'function') stream.destroy()
  else
    stream[Symbol.asyncIterator]()
      .return?.()
      .catch(() => {})
}

interface Opened {
  readonly filename: string
  readonly type: string
  readonly content: Blob | Stream
}

async function open(source: UploadSource, type: string): Promise<Opened> {
  if (typeof source === 'string') {
    return { filename: nameIn(source), type, content: await openPath(source) }
  }
  if (source instanceof Blob) {
    const filename = 'name' in source && typeof source.name === 'string' ? source.name : 'file'
    return { filename, type: source.type === '' ? type : source.type, content: source }
  }
  if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) {
    return { filename: 'file', type, content: new Blob([source as ArrayBuffer]) }
  }
  if (!('getReader' in Object(source) || Symbol.asyncIterator in Object(source)))
    throw new TrunklineError('The file must be a File, a Blob, bytes, a stream or the path of a file.')
  // It may fail before anything is read from it, which would end a process of Node; the reading then fails.
  if ('on' in source && typeof source.on === 'function') source.on('error', () => {})
  // A stream of a file knows where it reads from.
  const path = textIn(source, 'path') ?? ''
  return { filename: nameIn(path) || 'file', type, content: source }
}

function nameIn(path: string): string {
  return path.split(/[\\/]/).pop() ?? ''
}

/** A Blob of a file is read only while it is sent, and can be read again for a retry. */
async function openPath(path: string): Promise<Blob> {
  // A name that bundlers do not follow: there is no such module in a browser.
  const fs = 'node:fs'
  try {
    const { openAsBlob } = (await import(
      /* @vite-ignore */ /* webpackIgnore: true */ fs
    )) as typeof import('node:fs')
    return await openAsBlob(path)
  } catch (cause) {
    throw new TrunklineError(`The file ${path} cannot be read: ${textIn(cause, 'code') ?? String(cause)}`, {
      cause,
    })
  }
}

async function collect(stream: Stream, type: string): Promise<Blob> {
  const pieces: Uint8Array<ArrayBuffer>[] = []
  for await (const piece of chunksOf(stream)) pieces.push(new Uint8Array(piece))
  return new Blob(pieces, { type })
}
