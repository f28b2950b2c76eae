import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'

/**
 * A body that stays the same for as long as the process runs. Its bytes are shared by all responses: made for each, those of
 * clients that do not read would pile up.
 */
export interface FixedBody {
  readonly bytes: Buffer
  readonly etag: string
}

export function fixedBody(text: string): FixedBody {
  const bytes = Buffer.from(text)
  return { bytes, etag: `"${createHash('sha256').update(bytes).digest('base64url')}"` }
}

/** Sets the headers of a fixed body, and the status 304 where the client has it already. Returns what is left to send. */
export function revalidate(
  request: FastifyRequest,
  reply: FastifyReply,
  { bytes, etag }: FixedBody,
): Buffer | null {
  // Kept by clients, but not used without asking: another version of the gateway has another one.
  reply.header('etag', etag).header('cache-control', 'no-cache')
  if (!isKnown(etag, request.headers['if-none-match'])) return bytes
  reply.status(304)
  return null
}

/** By weak comparison, as RFC 9110 (13.1.2) has it: proxies that compress mark a tag as weak. */
function isKnown(etag: string, ifNoneMatch: string | undefined): boolean {
  if (ifNoneMatch === undefined) return false
  return ifNoneMatch.split(',').some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === etag)
}
