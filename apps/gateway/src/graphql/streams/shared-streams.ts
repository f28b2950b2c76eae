import { randomUUID } from 'node:crypto'
import type { FastifyReply } from 'fastify'
import type { ExecutionResult } from 'graphql'
import { fail, refuseField } from '#core/errors.ts'
import type { EventStream, StreamTimes } from '#http/chat/event-stream.ts'
import { forEachResult, openEventStream, resultText } from './event-streams.ts'
import type { Results } from './results.ts'

/** What the streams of one process may hold in memory. */
export const SHARED_STREAM_LIMITS = {
  perCredential: 20,
  operationsPerStream: 100,
  /** A reservation that no stream follows is dropped. */
  openWithinMs: 10_000,
} as const

export type SharedStreamLimits = Readonly<Record<keyof typeof SHARED_STREAM_LIMITS, number>>

/**
 * The streams of the single connection mode of the GraphQL over SSE protocol: a client reserves one, opens it, and gets the
 * results of all its operations on it. They are kept in this process, so all requests of a client must come to the same one.
 */
export class SharedStreams {
  readonly #times: StreamTimes
  readonly #limits: SharedStreamLimits
  readonly #streams = new Map<string, SharedStream>()

  constructor(times: StreamTimes, limits: SharedStreamLimits = SHARED_STREAM_LIMITS) {
    this.#times = times
    this.#limits = limits
  }

  get size(): number {
    return this.#streams.size
  }

  /**
   * @param owner - the credential by which streams are counted
   * @returns the token of the stream, which nobody can guess
   * @throws Problem `rate_limited`
   */
  reserve(owner: string): string {
    const { perCredential, openWithinMs, operationsPerStream } = this.#limits
    let held = 0
    for (const stream of this.#streams.values()) if (stream.owner === owner) held += 1
    if (held >= perCredential) {
      fail('rate_limited', {
        detail: `The credential holds ${perCredential} event streams, which is the maximum.`,
        limit: 'event_streams',
        retryAfterSeconds: 1,
      })
    }
    const token = randomUUID()
    const remove = () => this.#streams.delete(token)
    this.#streams.set(token, new SharedStream(owner, { operationsPerStream, openWithinMs, remove }))
    return token
  }

  /** @throws Problem `stream_not_found` */
  find(token: string | undefined): SharedStream {
    return this.#streams.get(token ?? '') ?? fail('stream_not_found')
  }

  /** Sends the stream until the client leaves. */
  open(token: string | undefined, reply: FastifyReply): void {
    this.find(token).open(reply, this.#times)
  }

  close(): void {
    for (const stream of [...this.#streams.values()]) stream.close()
  }
}

interface SharedStreamOptions {
  readonly operationsPerStream: number
  readonly openWithinMs: number
  remove(): void
}

export class SharedStream {
  readonly owner: string
  readonly #options: SharedStreamOptions
  readonly #operations = new Map<string, AbortController>()
  readonly #opened = Promise.withResolvers<EventStream | undefined>()
  readonly #timer: NodeJS.Timeout
  #stream: EventStream | undefined

  constructor(owner: string, options: SharedStreamOptions) {
    this.owner = owner
    this.#options = options
    this.#timer = setTimeout(() => this.close(), options.openWithinMs)
    this.#timer.unref()
  }

  open(reply: FastifyReply, times: StreamTimes): void {
    if (this.#stream !== undefined) fail('stream_taken')
    clearTimeout(this.#timer)
    this.#stream = openEventStream(reply, times)
    this.#opened.resolve(this.#stream)
    reply.raw.once('close', () => this.close())
    if (reply.raw.destroyed) this.close()
  }

  /**
   * Runs an operation, whose results go to the stream once it is open.
   *
   * @throws Problem `invalid_request`, `rate_limited`
   */
  run(id: unknown, execute: (signal: AbortSignal) => Promise<Results>): Promise<void> {
    if (typeof id !== 'string' || id === '' || id.length > OPERATION_ID_CHARACTERS_MAX) {
      refuseField(
        ['extensions', 'operationId'],
        `expected a text of 1 to ${OPERATION_ID_CHARACTERS_MAX} characters.`,
      )
    }
    if (this.#operations.has(id)) refuseField(['extensions', 'operationId'], 'is in use on this stream.')
    if (this.#operations.size >= this.#options.operationsPerStream) {
      fail('rate_limited', {
        detail: `The stream carries ${this.#options.operationsPerStream} operations, which is the maximum.`,
        limit: 'stream_operations',
        retryAfterSeconds: 1,
      })
    }
    const leaving = new AbortController()
    this.#operations.set(id, leaving)
    return this.#send(id, execute, leaving.signal).finally(() => {
      if (this.#operations.get(id) === leaving) this.#operations.delete(id)
    })
  }

  /** Ends an operation; does nothing if it is over. */
  leave(id: string | undefined): void {
    this.#operations.get(id ?? '')?.abort()
    this.#operations.delete(id ?? '')
  }

  /** Ends the stream and its operations. */
  close(): void {
    clearTimeout(this.#timer)
    this.#options.remove()
    this.#opened.resolve(undefined)
    for (const leaving of this.#operations.values()) leaving.abort()
    this.#operations.clear()
    this.#stream?.end()
  }

  async #send(
    id: string,
    execute: (signal: AbortSignal) => Promise<Results>,
    left: AbortSignal,
  ): Promise<void> {
    const results = await execute(left)
    const stream = await this.#opened.promise
    const isOpen = () => stream !== undefined && !left.aborted
    await forEachResult(results, left, async (result: ExecutionResult) => {
      const text = `event: next\ndata: {"id":${JSON.stringify(id)},"payload":${resultText(result)}}\n\n`
      if (stream !== undefined && isOpen() && !stream.write(text)) await stream.drained()
    })
    if (isOpen()) stream?.write(`event: complete\ndata: {"id":${JSON.stringify(id)}}\n\n`)
  }
}

const OPERATION_ID_CHARACTERS_MAX = 128
