import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify'
import { expect } from 'vitest'

/**
 * Sends a request several times, alone and beside others, and requires the same answer each time: what the gateway remembers of
 * a document must not make its second answer another one than its first. Returns the first answer.
 */
export async function sentAgain(
  app: FastifyInstance,
  request: InjectOptions,
): Promise<LightMyRequestResponse> {
  const first = await app.inject(request)
  const expected = contentOf(first)
  expect(contentOf(await app.inject(request))).toEqual(expected)
  const together = await Promise.all([request, OTHER, request, OTHER].map((each) => app.inject(each)))
  expect(together.filter((_, index) => index % 2 === 0).map(contentOf)).toEqual([expected, expected])
  return first
}

const OTHER: InjectOptions = { method: 'POST', url: '/graphql', payload: { query: '{ __typename }' } }

/** An answer without the id of its request, which must be its own wherever it is named. */
export function contentOf({
  statusCode,
  body,
  headers,
}: Pick<LightMyRequestResponse, 'statusCode' | 'body' | 'headers'>) {
  const id = String(headers['x-request-id'])
  const named = [...body.matchAll(/"requestId":"([^"]*)"/g)].map(([, of]) => of)
  expect(named.filter((other) => other !== id)).toEqual([])
  return { statusCode, body: body.replaceAll(id, '') }
}
