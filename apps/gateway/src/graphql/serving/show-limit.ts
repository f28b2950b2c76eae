import type { FastifyReply } from 'fastify'
import type { OnLimit } from '#core/limits/limits.ts'
import { limitHeaders } from '#http/reply/limit-headers.ts'

/** Reports a limit in the headers of the response, as REST does. Of several in one request, they show the last. */
export function showLimit({ reply }: { readonly reply: FastifyReply }): OnLimit {
  return (verdict) => limitHeaders(reply, verdict)
}
