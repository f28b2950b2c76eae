import { finished, Readable } from 'node:stream'
import type { FileToUpload, UpstreamRequest } from '#core/agents/adapter.ts'

/**
 * Creates a POST request with a form: the fields, then the content of the file as the part `file`, which is passed on as
 * fast as the platform accepts it. The request fails if the content is longer or shorter than `file.size`.
 *
 * @param fields - must not come from a client, because the values could then contain the boundary
 */
export function multipartPost(
  url: string,
  credentials: Readonly<Record<string, string>>,
  file: FileToUpload,
  fields: Readonly<Record<string, string>> = {},
): UpstreamRequest {
  // No content can contain its own hash, so the boundary needs neither randomness nor a search through the file. The name
  // of the file is the client's, but without line breaks, and a boundary starts a line.
  const boundary = `tl-${file.sha256}`
  const parts = Object.entries(fields).map(
    ([name, value]) =>
      `--${boundary}\r\ncontent-disposition: form-data; name="${escapeQuoted(name)}"\r\n\r\n${value}\r\n`,
  )
  const head = Buffer.from(
    `${parts.join('')}--${boundary}\r\n` +
      `content-disposition: form-data; name="file"; filename="${escapeQuoted(file.name)}"\r\n` +
      `content-type: ${file.mediaType}\r\n\r\n`,
  )
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`)
  return {
    method: 'POST',
    url,
    headers: {
      'content-type': `multipart/form-data; boundary=${boundary}`,
      'content-length': String(head.length + file.size + tail.length),
      ...credentials,
    },
    body: new FormBody(head, file, tail),
  }
}

/** Escapes a name as browsers do (WHATWG HTML, "multipart/form-data encoding algorithm"). */
function escapeQuoted(name: string): string {
  return name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}

/**
 * The body of a form around one file. If the file's stream fails, so does this one, with the same error; if this one is
 * destroyed, so is the file's, even before anything was read of it.
 */
class FormBody extends Readable {
  readonly #file: FileToUpload
  #bytesLeft: number

  constructor(head: Buffer, file: FileToUpload, tail: Buffer) {
    super()
    this.#file = file
    this.#bytesLeft = file.size
    this.push(head)
    // Paused first, so that the listener does not start the stream before the platform accepts the form.
    file.body.pause().on('data', (chunk: Buffer) => this.#pass(chunk))
    finished(file.body, (error) => {
      if (error || this.#bytesLeft > 0) return void this.destroy(error ?? this.#wrongLength())
      this.push(tail)
      this.push(null)
    })
  }

  override _read(): void {
    this.#file.body.resume()
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#file.body.destroy(error ?? undefined)
    callback(error)
  }

  #pass(chunk: Buffer): void {
    this.#bytesLeft -= chunk.length
    if (this.#bytesLeft < 0) this.destroy(this.#wrongLength())
    else if (!this.push(chunk)) this.#file.body.pause()
  }

  #wrongLength(): Error {
    return new Error(`the content of an uploaded file does not have its ${this.#file.size} bytes`)
  }
}
