import type { FastifyReply } from 'fastify'

/** Adds a request header to those that the response depends on; CORS may have added `Origin`. */
export function addVary(reply: FastifyReply, header: string): void {
  reply.header('vary', [reply.getHeader('vary') ?? [], header].flat().join(', '))
}
