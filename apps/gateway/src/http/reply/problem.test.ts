import Fastify from 'fastify'
import { expect, test } from 'vitest'
import { Problem } from '#core/errors.ts'
import { installProblems } from './problem.ts'

/** The `Retry-After` that each face gives for this wait. */
async function waitsFor(retryAfterSeconds: number): Promise<unknown[]> {
  const app = Fastify()
  installProblems(app)
  const refuse = async () => {
    throw new Problem('rate_limited', { retryAfterSeconds })
  }
  app.get('/rest', refuse)
  app.get('/openai', { config: { errors: 'openai' } }, refuse)
  const responses = await Promise.all([app.inject('/rest'), app.inject('/openai')])
  return responses.map(({ headers }) => headers['retry-after'])
}

test('for windows of up to a minute, Retry-After is at most 59 seconds, which common clients wait', async () => {
  expect(await waitsFor(1)).toEqual(['1', '1'])
  expect(await waitsFor(59)).toEqual(['59', '59'])
  expect(await waitsFor(60)).toEqual(['59', '59'])
})

test('a longer wait is sent unchanged, except on the face whose clients would retry at once', async () => {
  expect(await waitsFor(3_600)).toEqual(['3600', '59'])
})
