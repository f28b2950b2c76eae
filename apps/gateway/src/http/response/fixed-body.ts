import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'

/**
 * A body that stays the same for as long as the process runs. All responses share its bytes; a copy for each response would
 * let the copies of clients that do not read pile up in memory.
 */
export interface FixedBody {
  readonly bytes: Buffer
  readonly etag: string
}

export function fixedBody(content: string | Buffer): FixedBody {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content
  return { bytes, etag: `"${createHash('sha256').update(bytes).digest('base64url')}"` }
}

/** Sets the headers of a fixed body, and the status 304 if the client already has it. Returns what is left to send. */
export function revalidate(
  request: FastifyRequest,
  reply: FastifyReply,
  { bytes, etag }: FixedBody,
): Buffer | null {
  // Clients may store it but must revalidate it, since another version of the gateway has another body.
  reply.header('etag', etag).header('cache-control', 'no-cache')
  if (!isKnown(etag, request.headers['if-none-match'])) return bytes
  reply.status(304)
  return null
}

/** Uses the weak comparison of RFC 9110 (13.1.2), because proxies that compress mark a tag as weak. */
function isKnown(etag: string, ifNoneMatch: string | undefined): boolean {
  if (ifNoneMatch === undefined) return false
  return ifNoneMatch.split(',').some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === etag)
}
