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

/** The most bytes that one step makes, of however few. */
const STEP_BYTES = 64 * 1024

/** More than anybody applies on purpose, and each of them can make a thousand bytes of one. */
const ENCODINGS_MAX = 3

/** An unknown name comes from the platform and is written to the log. */
const NAME_CHARACTERS_MAX = 64

/** Behind the data of an encoding stands its check sum, and in gzip its length. */
const TRAILER_BYTES = 8

/** What was made is read before more is made. */
const OPTIONS = { chunkSize: STEP_BYTES, readableHighWaterMark: 1 }

/** The largest window that RFC 9659 allows, so that a response cannot claim more memory. */
const ZSTD_OPTIONS = { ...OPTIONS, params: { [constants.ZSTD_d_windowLogMax]: 23 } }

const ZSTD_FRAME = Buffer.from([0x28, 0xb5, 0x2f, 0xfd])

type Inflater = Gunzip | BrotliDecompress | ZstdDecompress

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
 * Decodes the content of a response as it comes. undici has an interceptor for this, but it drops what has come when the
 * connection breaks or the content ends too early, and it costs every response something.
 *
 * Everything that could be decoded reaches the reader before the fault that prevents the rest.
 */
export class ContentDecoder implements ContentReader, PausableSource {
  /** The last encoding that was applied is the first to be decoded. */
  readonly #stages: readonly [Stage, ...Stage[]]

  constructor(encodings: readonly string[], source: PausableSource, reader: ContentReader) {
    const isKnown = encodings.length <= ENCODINGS_MAX
    const [last = 'identity', ...inner] = isKnown ? encodings.toReversed() : [encodings.join(', ')]
    const first = new Stage(last, source)
    const stages: [Stage, ...Stage[]] = [first]
    for (const encoding of inner) {
      const outer = stages.at(-1) ?? first
      const stage = new Stage(encoding, outer)
      outer.reader = stage
      stages.push(stage)
    }
    ;(stages.at(-1) ?? first).reader = reader
    this.#stages = stages
  }

  write(chunk: Buffer): void {
    this.#stages[0].write(chunk)
  }

  end(fault: Error | undefined): void {
    this.#stages[0].end(fault)
  }

  pause(): void {
    this.#stages.at(-1)?.pause()
  }

  resume(): void {
    this.#stages.at(-1)?.resume()
  }

  destroy(): void {
    for (const stage of this.#stages) stage.destroy()
  }
}

/** Decodes one encoding. One piece is decoded and read before the next one is touched. */
class Stage implements ContentReader, PausableSource {
  reader: ContentReader | undefined
  readonly #encoding: string
  readonly #source: PausableSource
  #inflater: Inflater | undefined
  /** How many bytes the inflater was given. */
  #givenBytes = 0
  readonly #pieces: Buffer[] = []
  #isBusy = false
  #isEnding = false
  #isPaused = false
  #isSourcePaused = false
  #hasInputEnded = false
  #inputFault: Error | undefined
  /** Whether the encoding has reached its own end; what follows is no content. */
  #isWhole = false
  #isOver = false

  constructor(encoding: string, source: PausableSource) {
    this.#encoding = encoding
    this.#source = source
  }

  write(chunk: Buffer): void {
    if (this.#isOver || this.#isWhole) return
    // A wrong check sum is found together with the last data, which would be lost if both were decoded in one step.
    const dataBytes = Math.max(0, chunk.length - TRAILER_BYTES)
    for (const piece of [chunk.subarray(0, dataBytes), chunk.subarray(dataBytes)])
      if (piece.length > 0) this.#pieces.push(piece)
    this.#step()
    this.#keepPace()
  }

  end(fault: Error | undefined): void {
    this.#hasInputEnded = true
    this.#inputFault = fault
    this.#step()
  }

  pause(): void {
    this.#isPaused = true
    this.#inflater?.pause()
  }

  resume(): void {
    this.#isPaused = false
    this.#inflater?.resume()
    this.#step()
  }

  destroy(): void {
    this.#isOver = true
    this.#pieces.length = 0
    this.#inflater?.destroy()
  }

  #step(): void {
    if (this.#isBusy || this.#isPaused || this.#isOver) return
    const piece = this.#pieces.shift()
    this.#keepPace()
    if (piece !== undefined) this.#inflate(piece)
    else if (this.#hasInputEnded) this.#endInflater()
  }

  #inflate(piece: Buffer): void {
    this.#inflater ??= this.#open(piece[0] ?? 0)
    const inflater = this.#inflater
    if (inflater === undefined) return
    this.#isBusy = true
    this.#givenBytes += piece.length
    inflater.write(piece, () => {
      this.#isBusy = false
      if (this.#isOver) return
      const restBytes = this.#givenBytes - inflater.bytesWritten
      if (restBytes > 0) this.#reachedEnd(piece.subarray(piece.length - restBytes))
      this.#step()
    })
  }

  #open(firstByte: number): Inflater | undefined {
    const inflater = INFLATERS.get(this.#encoding)?.(firstByte)
    if (inflater === undefined) {
      this.#finish(this.#undecodable(false))
      return undefined
    }
    this.#givenBytes = 0
    inflater.on('data', (chunk: Buffer) => {
      if (!this.#isOver) this.reader?.write(chunk)
    })
    // It also ends by itself, before bytes that are no content; then the callback of `write` follows.
    inflater.on('end', () => {
      if (this.#isEnding) this.#finish(undefined)
    })
    inflater.on('error', (error: NodeJS.ErrnoException) =>
      this.#finish(this.#undecodable(error.code === 'Z_BUF_ERROR', error)),
    )
    if (this.#isPaused) inflater.pause()
    return inflater
  }

  /** The inflater takes no more. Servers that compress each event by itself send one frame of zstd after the other. */
  #reachedEnd(rest: Buffer): void {
    const begins = rest.subarray(0, ZSTD_FRAME.length)
    const isFrame = this.#encoding === 'zstd' && begins.equals(ZSTD_FRAME.subarray(0, begins.length))
    if (isFrame) {
      this.#pieces.unshift(rest)
      this.#inflater = undefined
    } else {
      this.#pieces.length = 0
      this.#isWhole = true
    }
  }

  /** Nothing more can come out if the input broke off, since a step leaves nothing behind. */
  #endInflater(): void {
    if (this.#inflater === undefined || this.#isWhole || this.#inputFault !== undefined)
      this.#finish(this.#inputFault)
    else {
      this.#isBusy = true
      this.#isEnding = true
      this.#inflater.end()
    }
  }

  #undecodable(isCut: boolean, cause?: unknown): UndecodableContent {
    return new UndecodableContent(this.#encoding.slice(0, NAME_CHARACTERS_MAX), { isCut, cause })
  }

  #finish(fault: Error | undefined): void {
    if (this.#isOver) return
    this.destroy()
    this.reader?.end(fault)
  }

  /** The source waits while there is more to decode than one step may make. */
  #keepPace(): void {
    const waits = this.#pieces.reduce((bytes, { length }) => bytes + length, 0) > STEP_BYTES
    if (waits === this.#isSourcePaused || this.#hasInputEnded) return
    this.#isSourcePaused = waits
    if (waits) this.#source.pause()
    else this.#source.resume()
  }
}
