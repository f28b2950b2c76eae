import type { FastifyReply } from 'fastify'

const HEADER = 'x-dropped-tools'

/** Adds kinds of tools to those of which the response says that they were left out. What a client calls a tool is of its choosing. */
export function showDroppedTools(reply: FastifyReply, kinds: readonly string[]): void {
  const before = reply.getHeader(HEADER)
  const shown = [
    ...(typeof before === 'string' ? before.split(', ') : []),
    ...kinds.map((kind) => encodeURIComponent(kind.slice(0, 64))),
  ]
  if (shown.length > 0) reply.header(HEADER, [...new Set(shown)].slice(0, 32).join(', '))
}
