import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest, RequestPayload } from 'fastify'
import { fail, type Problem } from '#core/base/errors/errors.ts'
import { problemOf } from '#core/base/errors/problem-of.ts'
import { type EndTurn, OwnerTurns } from '#core/limits/sharing/owner-turns.ts'
import type { Services } from '#core/services/services.ts'
import { abortedWith } from '../request/aborted-with.ts'
import { callerOf, knowCaller } from './credentials.ts'

/**
 * A body up to this length is read and parsed for any credential of the right form, and judged before the credential is looked
 * up. The form of a key is public, so a longer one is parsed only for a caller that is known.
 */
export const SMALL_BODY_BYTES = 16_000

/** The bytes of large bodies that a process holds at a time, and how many of them belong to one owner. */
const TURNS = {
  atOnce: 512 * 1024 * 1024,
  perOwner: 256 * 1024 * 1024,
  waitMs: 30_000,
  what: 'large requests',
}

/** Called for each request whose large body is refused unread; it may throw another problem. */
type OnRefused = (request: FastifyRequest, problem: Problem) => Promise<void>

/** Makes the routes of a context read large bodies only for callers that are known. */
export type GuardLargeBodies = (app: FastifyInstance, onRefused?: OnRefused) => void

/**
 * Creates the guard of large bodies, which all contexts of a process share. The caller is looked up before a large body is read. One
 * whose length is not announced counts as large in a chat, and on other routes once more than {@link SMALL_BODY_BYTES} have come.
 * Owners take turns at the memory that large bodies take, and again at the event loop, which parses them. Small bodies cost nothing
 * here.
 */
export function createLargeBodyGuard(services: Pick<Services, 'authentication' | 'reads'>): GuardLargeBodies {
  const turns = new OwnerTurns(TURNS)

  async function requireCaller(request: FastifyRequest, onRefused: OnRefused | undefined): Promise<void> {
    try {
      if (request.headers.authorization === undefined) fail('body_too_large', TOO_LARGE_FOR_STRANGERS)
      await knowCaller(services, request)
    } catch (error) {
      await onRefused?.(request, problemOf(error))
      throw error
    }
  }

  async function* readInTurn(payload: RequestPayload, body: LargeBody) {
    let received = 0
    let signal: AbortSignal | undefined
    try {
      // The request outlives the iterator, since the rest of one that is refused is discarded.
      const chunks: AsyncIterable<Buffer> = payload.iterator({ destroyOnReturn: false })
      for await (const chunk of chunks) {
        received += chunk.length
        if (signal === undefined && received > SMALL_BODY_BYTES) {
          await body.requireCaller()
          signal = abortedWith(body.reply)
          await holdBytes(body, signal)
        }
        yield chunk
      }
      if (signal === undefined) return
      body.whenJudged(await services.reads.beginLarge(callerOf(body.request), signal))
    } catch (error) {
      payload.resume()
      throw error
    }
  }

  /** Waits for the memory that the body takes, which is given back with the end of the response at the latest. */
  async function holdBytes({ request, reply, bytes }: LargeBody, signal: AbortSignal): Promise<void> {
    const endTurn = await turns.take({ owner: callerOf(request).userId, weight: bytes, signal })
    request.endLargeBody = endTurn
    reply.raw.once('close', endTurn)
    if (reply.raw.destroyed) endTurn()
  }

  return (app, onRefused) => {
    app.addHook('preParsing', (request, reply, payload, done) => {
      const length = announcedLength(request)
      if (length <= SMALL_BODY_BYTES || hasUnreadBody(request)) return done(null, payload)
      const bytes = Math.min(length, request.routeOptions.bodyLimit ?? length, TURNS.perOwner)
      const body: LargeBody = {
        ...{ request, reply, bytes },
        requireCaller: () => requireCaller(request, onRefused),
        // What follows the last byte is done before the next tick that a microtask asks for.
        whenJudged: (end) => stream.once('close', () => queueMicrotask(() => process.nextTick(end))),
      }
      const stream = Readable.from(readInTurn(payload, body))
      // Its reader stops listening once the body is refused.
      stream.on('error', () => undefined)
      // A small body without an announced length is read without a credential where none is needed, and with one that has expired.
      if (length === Number.POSITIVE_INFINITY && request.apiKey === '') return done(null, stream)
      body.requireCaller().then(() => done(null, stream), done)
    })
  }
}

interface LargeBody {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  /** What it may take in memory. */
  readonly bytes: number
  requireCaller(): Promise<void>
  /** Calls a function once the whole body has been parsed and judged, as far as no database is needed. */
  whenJudged(call: () => void): void
}

const TOO_LARGE_FOR_STRANGERS = {
  detail: `body: expected at most ${SMALL_BODY_BYTES} bytes without a credential.`,
  cost: { requested: `more than ${SMALL_BODY_BYTES}`, allowed: SMALL_BODY_BYTES },
} as const

/** The length of the body, which is infinite where it is not announced. */
export function announcedLength({ headers }: Pick<FastifyRequest, 'headers'>): number {
  if (headers['transfer-encoding'] !== undefined) return Number.POSITIVE_INFINITY
  return Number(headers['content-length'] ?? 0)
}

/** A body that is sent with these methods is never read. */
function hasUnreadBody({ method }: FastifyRequest): boolean {
  return method === 'GET' || method === 'HEAD'
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Gives back the memory of a large body. Set while that is held. */
    endLargeBody?: EndTurn
  }
}
