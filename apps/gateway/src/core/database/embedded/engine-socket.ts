import { Duplex } from 'node:stream'

/** Passes a part of PostgreSQL's protocol to an engine, which answers every part once and in order. */
export type Exchange = (message: Uint8Array<ArrayBuffer>, onAnswer: (answer: Uint8Array) => void) => void

/**
 * What pg takes for the socket of a server: it passes what pg writes to an embedded engine, and the engine's answers to pg. So
 * the embedded database is used through the same driver as a server, and values are converted in the same way.
 */
export class EngineSocket extends Duplex {
  readonly #exchange: Exchange | undefined

  /** Without an engine, the connection is refused. */
  constructor(exchange: Exchange | undefined) {
    super()
    this.#exchange = exchange
  }

  /** Called by pg, like the methods of the same name of `net.Socket`. */
  connect(): this {
    process.nextTick(() => {
      if (this.#exchange === undefined) this.destroy(new EngineUnreachable('ECONNREFUSED'))
      else this.emit('connect')
    })
    return this
  }

  setNoDelay(): this {
    return this
  }

  setKeepAlive(): this {
    return this
  }

  ref(): this {
    return this
  }

  unref(): this {
    return this
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#send([chunk])
    done()
  }

  /** pg corks the messages of a statement, which so make one exchange. */
  override _writev(chunks: readonly { readonly chunk: Buffer }[], done: () => void): void {
    this.#send(chunks.map(({ chunk }) => chunk))
    done()
  }

  override _final(done: () => void): void {
    this.push(null)
    done()
  }

  #send(chunks: readonly Uint8Array[]): void {
    this.#exchange?.(joined(chunks), ({ buffer, byteOffset, byteLength }) => {
      if (!this.destroyed && !this.writableEnded) this.push(Buffer.from(buffer, byteOffset, byteLength))
    })
  }
}

/** Has the code of a socket's error, so that an engine that was lost is treated like a server that was lost. */
export class EngineUnreachable extends Error {
  readonly code: 'ECONNREFUSED' | 'ECONNRESET'

  constructor(code: EngineUnreachable['code'], cause?: unknown) {
    super(code === 'ECONNREFUSED' ? 'the embedded database is not open' : 'the embedded database was lost', {
      cause,
    })
    this.name = 'EngineUnreachable'
    this.code = code
  }
}

/** Copies chunks into memory of their own, which can be moved to another thread. */
export function joined(chunks: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  let length = 0
  for (const chunk of chunks) length += chunk.length
  const all = new Uint8Array(length)
  let offset = 0
  for (const chunk of chunks) {
    all.set(chunk, offset)
    offset += chunk.length
  }
  return all
}
