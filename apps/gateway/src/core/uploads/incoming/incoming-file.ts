import { createHash } from 'node:crypto'
import { fail, refuseField } from '#core/base/errors/errors.ts'
import type { TextCheck } from '#core/uploads/content/text-check.ts'
import { freeUsedChunks } from './free-used-chunks.ts'
import type { UploadWaits } from './upload-waits.ts'

/** How large the file may be, and what is said if it is larger. */
export interface SizeBound {
  readonly bytes: number
  readonly reason: 'body_too_large' | 'upload_space_used_up'
  readonly detail: string
}

/** Where the bytes of a file come from. */
export interface FileSource {
  readonly body: AsyncIterable<Buffer>
  /** Converts an error of `body`. */
  problemOf(error: unknown): Error
}

/**
 * A file as it arrives. It is read in two steps: first a sample, by which its type is decided, and then the whole content,
 * which passes through to the storage while it is hashed and counted. No more than the sample is held in memory.
 */
export class IncomingFile {
  readonly #source: FileSource
  readonly #chunks: AsyncIterator<Buffer>
  readonly #waits: UploadWaits
  readonly #hash = createHash('sha256')
  #sample: Buffer[] = []
  #sampleBytes = 0
  #hasEnded = false
  #bytes = 0

  constructor(source: FileSource, waits: UploadWaits) {
    this.#source = source
    this.#chunks = source.body[Symbol.asyncIterator]()
    this.#waits = waits
  }

  /** The number of bytes that have arrived. */
  get bytes(): number {
    return this.#bytes
  }

  /** Waits for the first byte. Returns false if the file is empty. */
  async begin(): Promise<boolean> {
    await this.#readSample(1)
    return this.#sampleBytes > 0
  }

  /** The first bytes of the file; fewer than `bytes` only if it is shorter. */
  async sample(bytes: number): Promise<Buffer> {
    await this.#readSample(bytes)
    return Buffer.concat(this.#sample).subarray(0, bytes)
  }

  /**
   * The whole content. What is wrong with it is thrown into the reader, so that a storage stores complete and valid files
   * only.
   *
   * @throws Problem
   */
  async *content(bound: SizeBound, text: TextCheck | undefined): AsyncGenerator<Buffer, void> {
    for (let chunk = await this.#next(); chunk !== undefined; chunk = await this.#next()) {
      if (this.#bytes > bound.bytes) fail(bound.reason, { field: ['file'], detail: bound.detail })
      this.#hash.update(chunk)
      text?.feed(chunk)
      this.#waits.startStoring()
      try {
        yield chunk
      } finally {
        this.#waits.stopStoring()
      }
    }
    text?.end()
    // The storage now makes the file durable.
    this.#waits.startStoring()
  }

  /** The SHA-256 of the content in hex, once all of it has been read. */
  sha256(): string {
    return this.#hash.digest('hex')
  }

  async #readSample(bytes: number): Promise<void> {
    while (this.#sampleBytes < bytes && !this.#hasEnded) {
      const chunk = await this.#read()
      if (chunk === undefined) return
      this.#sample.push(chunk)
      this.#sampleBytes += chunk.length
    }
  }

  async #next(): Promise<Buffer | undefined> {
    return this.#sample.shift() ?? (await this.#read())
  }

  async #read(): Promise<Buffer | undefined> {
    if (this.#hasEnded) return undefined
    const next = this.#chunks.next().catch((error: unknown) => Promise.reject(this.#source.problemOf(error)))
    const { done, value } = await this.#waits.forClient(next)
    this.#hasEnded = done === true
    if (done === true) return undefined
    this.#bytes += value.length
    freeUsedChunks(value.length)
    return value
  }
}

/** @throws Problem `invalid_request` always */
export function refuseEmptyFile(): never {
  refuseField(['file'], 'is empty; expected a file of at least one byte.')
}
