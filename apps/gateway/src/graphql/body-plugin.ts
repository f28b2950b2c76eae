import type { FastifyRequest } from 'fastify'
import type { GraphQLParams, Plugin } from 'graphql-yoga'

/**
 * Takes the body that Fastify has parsed, within the limits of the house. Yoga would read the body of a POST itself, in any of
 * five media types, and wait for ever for one that has been read.
 */
export function useParsedBody(): Plugin<object, { http: FastifyRequest }> {
  return {
    onRequestParse({ request, serverContext, setRequestParser }) {
      if (request.method !== 'POST') return
      setRequestParser(() => (serverContext.http.body ?? {}) as GraphQLParams)
    },
  }
}
