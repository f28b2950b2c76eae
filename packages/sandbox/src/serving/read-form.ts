import { createHash } from 'node:crypto'
import { plainText, Refusal } from './answer.ts'

/** A file of a form. Its bytes are not kept. */
export interface FormFile {
  readonly filename: string
  readonly contentType: string
  readonly size: number
  readonly sha256: string
}

export type Form = Readonly<Record<string, string | FormFile>>

/**
 * Reads a `multipart/form-data` body. Its files are hashed as they arrive, so that they may be of any size: with
 * `Response.formData()` a file of 100 MiB took 400 to 600 MiB of memory. That of Node 20 and 22 also refuses a preamble, and
 * no version says what is wrong with a form.
 *
 * @throws Refusal if the body is not such a form or is incomplete
 */
export async function readForm(body: AsyncIterable<Buffer>, contentType: string): Promise<Form> {
  const [, quoted, bare] = /;\s*boundary=(?:"([^"]+)"|([^;\s]+))/i.exec(contentType) ?? []
  const boundary = quoted ?? bare
  if (boundary === undefined) throw invalid('no boundary')
  const reader = new FormReader(boundary)
  for await (const chunk of body) reader.push(chunk)
  return reader.end()
}

const PART_HEADERS_BYTES_MAX = 16 * 1024
const TEXT_BYTES_MAX = 1024 * 1024

class FormReader {
  readonly #delimiter: Buffer
  readonly #values = new Map<string, string | FormFile>()
  // The first delimiter may lack the line break that begins all others.
  #rest = Buffer.from('\r\n')
  #part: Part | undefined
  #ended = false

  constructor(boundary: string) {
    this.#delimiter = Buffer.from(`\r\n--${boundary}`)
  }

  push(chunk: Buffer): void {
    if (this.#ended) return
    this.#rest = Buffer.concat([this.#rest, chunk])
    while (this.#step());
  }

  end(): Form {
    if (!this.#ended) throw invalid('it ends early')
    return Object.fromEntries(this.#values)
  }

  /** Reads up to the next delimiter and the headers after it; returns false if more bytes are needed. */
  #step(): boolean {
    const at = this.#rest.indexOf(this.#delimiter)
    // What could be the beginning of a delimiter stays.
    this.#take(at < 0 ? this.#rest.length - this.#delimiter.length : at)
    if (at < 0) return false
    const head = this.#delimiter.length
    if (this.#rest.toString('latin1', head, head + 2) === '--') {
      this.#closePart()
      this.#ended = true
      return false
    }
    const end = this.#rest.indexOf('\r\n\r\n', head)
    if (end < 0) {
      if (this.#rest.length > PART_HEADERS_BYTES_MAX) throw invalid('the headers of a part are too long')
      return false
    }
    this.#closePart()
    this.#part = openPart(this.#rest.toString('utf8', head, end))
    this.#rest = this.#rest.subarray(end + 4)
    return true
  }

  #take(length: number): void {
    if (length <= 0) return
    this.#part?.push(this.#rest.subarray(0, length))
    this.#rest = this.#rest.subarray(length)
  }

  #closePart(): void {
    if (this.#part) this.#values.set(this.#part.name, this.#part.end())
    this.#part = undefined
  }
}

interface Part {
  readonly name: string
  push(piece: Buffer): void
  end(): string | FormFile
}

function openPart(headers: string): Part {
  const disposition = /^content-disposition:(.*)$/im.exec(headers)?.[1] ?? ''
  const name = unescapeName(/;\s*name="([^"]*)"/i.exec(disposition)?.[1] ?? '')
  const filename = /;\s*filename="([^"]*)"/i.exec(disposition)?.[1]
  if (filename === undefined) return textPart(name)
  const contentType = /^content-type:(.*)$/im.exec(headers)?.[1]?.trim() ?? 'application/octet-stream'
  return filePart(name, unescapeName(filename), contentType)
}

function textPart(name: string): Part {
  let bytes = Buffer.alloc(0)
  return {
    name,
    push(piece) {
      bytes = Buffer.concat([bytes, piece])
      if (bytes.length > TEXT_BYTES_MAX) throw invalid('a text is too long')
    },
    end: () => bytes.toString(),
  }
}

function filePart(name: string, filename: string, contentType: string): Part {
  const hash = createHash('sha256')
  let size = 0
  return {
    name,
    push(piece) {
      size += piece.length
      hash.update(piece)
    },
    end: () => ({ filename, contentType, size, sha256: hash.digest('hex') }),
  }
}

/** Browsers, curl and `fetch` escape these three characters in names, and no others. */
function unescapeName(name: string): string {
  return name.replaceAll('%22', '"').replaceAll('%0D', '\r').replaceAll('%0A', '\n')
}

function invalid(reason: string): Refusal {
  return new Refusal(plainText(400, `Invalid form: ${reason}`))
}
