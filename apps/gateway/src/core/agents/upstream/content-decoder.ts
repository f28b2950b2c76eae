import {
  type BrotliDecompress,
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
  type Gunzip,
  type ZstdDecompress,
} from 'node:zlib'

/** A source of bytes that can be paused. */
export interface PausableSource {
  pause(): void
  resume(): void
}

/** Where bytes go. */
export interface ContentReader {
  /** The reader may pause the source, which then passes on no more than it has already begun to. */
  write(chunk: Buffer): void
  /**
   * Nothing more comes.
   *
   * @param fault - why what came may not be all: the connection broke, or the content could not be decoded to its end
   */
  end(fault: Error | undefined): void
}

/** The content of a response is not what its header `content-encoding` says. */
export class UndecodableContent extends Error {
  readonly encoding: string
  /** Whether the content is right as far as it goes, and only ends too early. */
  readonly isCut: boolean

  constructor(encoding: string, { isCut, cause }: { isCut: boolean; cause?: unknown }) {
    super(`content encoding "${encoding}"`, { cause })
    this.name = 'UndecodableContent'
    this.encoding = encoding
    this.isCut = isCut
  }
}

/** More than anybody applies on purpose, and each of them can make a thousand bytes of one. */
const ENCODINGS_MAX = 3

/** An unknown name comes from the platform and is written to the log. */
const NAME_CHARACTERS_MAX = 64

/** A paused reader holds one chunk of output; Node's default is four. */
const OPTIONS = { chunkSize: 16 * 1024, readableHighWaterMark: 1 }

/** The largest window that RFC 9659 allows, so that a response cannot claim more memory. */
const ZSTD_OPTIONS = { ...OPTIONS, params: { [constants.ZSTD_d_windowLogMax]: 23 } }

type Inflater = Gunzip | BrotliDecompress | ZstdDecompress

const ZLIB_FIRST_BYTE = 0x78

/** By the first byte, since some servers send `deflate` without the header that RFC 9110 asks for. */
const INFLATERS = new Map<string, (firstByte: number) => Inflater>([
  ['gzip', () => createGunzip(OPTIONS)],
  ['x-gzip', () => createGunzip(OPTIONS)],
  ['deflate', (first) => ((first & 0x0f) === 0x08 ? createInflate(OPTIONS) : createInflateRaw(OPTIONS))],
  ['br', () => createBrotliDecompress(OPTIONS)],
  ['zstd', () => createZstdDecompress(ZSTD_OPTIONS)],
])

/** Words of the header that stand for no encoding. Some servers name the character set there. */
const PLAIN: ReadonlySet<string> = new Set(['', 'identity', 'none', 'utf-8', 'utf8'])

/** The encodings of a response in the order in which they were applied. Hardly any response has one. */
export function encodingsOf(header: string | string[] | undefined): readonly string[] {
  if (header === undefined) return []
  const words = [header].flat().flatMap((line) => line.toLowerCase().split(','))
  return words.map((word) => word.trim()).filter((word) => !PLAIN.has(word))
}

/**
 * Decodes the content of a response as it comes, with the streams of `node:zlib` piped one into the other. Each makes its next
 * chunk of at most 16 KiB only when the one before has been read, so the reader bounds what comes out by counting it.
 */
export class ContentDecoder implements ContentReader, PausableSource {
  readonly #encodings: readonly string[]
  readonly #source: PausableSource
  readonly #reader: ContentReader
  /** In the order of decoding. Empty before the first byte, because content without bytes has no encoding. */
  readonly #inflaters: Inflater[] = []
  #givenBytes = 0
  #hasInputEnded = false
  #inputFault: Error | undefined
  /** Whether all encodings have reached their own end; what follows is no content. */
  #isDecoded = false
  #isOver = false

  constructor(encodings: readonly string[], source: PausableSource, reader: ContentReader) {
    // Too many of them are refused as one of an unknown name.
    this.#encodings = encodings.length > ENCODINGS_MAX ? [encodings.join(', ')] : encodings.toReversed()
    this.#source = source
    this.#reader = reader
  }

  write(chunk: Buffer): void {
    if (this.#isDecoded || this.#isOver) return
    if (this.#inflaters.length === 0) this.#open(chunk[0] ?? 0)
    this.#givenBytes += chunk.length
    if (this.#inflaters[0]?.write(chunk) === false) this.#source.pause()
  }

  end(fault: Error | undefined): void {
    this.#hasInputEnded = true
    this.#inputFault = fault
    const [first] = this.#inflaters
    if (first === undefined || this.#isDecoded) this.#finish(fault)
    // Also after a fault, because what has come may be a whole reply.
    else first.end()
  }

  pause(): void {
    this.#inflaters.at(-1)?.pause()
  }

  resume(): void {
    this.#inflaters.at(-1)?.resume()
  }

  destroy(): void {
    this.#isOver = true
    this.#release()
  }

  #open(firstByte: number): void {
    for (const [index, encoding] of this.#encodings.entries()) {
      const inflater = INFLATERS.get(encoding)?.(index === 0 ? firstByte : ZLIB_FIRST_BYTE)
      if (inflater === undefined) {
        this.#finish(undecodable(encoding))
        return
      }
      inflater.on('error', (error) => this.#finish(this.#inputFault ?? undecodable(encoding, error)))
      this.#inflaters.at(-1)?.pipe(inflater)
      this.#inflaters.push(inflater)
    }
    this.#inflaters[0]?.on('drain', () => this.#source.resume())
    this.#inflaters.at(-1)?.on('data', (chunk: Buffer) => this.#reader.write(chunk))
    this.#inflaters.at(-1)?.on('end', () => this.#reachedEnd())
  }

  #reachedEnd(): void {
    if (this.#isOver) return
    const [encoding = ''] = this.#encodings
    const takenBytes = this.#inflaters[0]?.bytesWritten ?? 0
    // Of several frames of zstd in one chunk, Node reads only the first. They are content, which must not be lost unnoticed.
    if (encoding === 'zstd' && takenBytes < this.#givenBytes) this.#finish(undecodable(encoding))
    else if (this.#hasInputEnded) this.#finish(this.#inputFault)
    else {
      this.#isDecoded = true
      this.#release()
      this.#source.resume()
    }
  }

  #release(): void {
    for (const inflater of this.#inflaters) inflater.destroy()
  }

  #finish(fault: Error | undefined): void {
    if (this.#isOver) return
    this.destroy()
    this.#reader.end(fault)
  }
}

function undecodable(encoding: string, cause?: NodeJS.ErrnoException): UndecodableContent {
  const isCut = cause?.code === 'Z_BUF_ERROR'
  return new UndecodableContent(encoding.slice(0, NAME_CHARACTERS_MAX), { isCut, cause })
}
