import Fastify from 'fastify'
import { expect, test } from 'vitest'
import { Problem } from '#core/base/errors/errors.ts'
import { installProblems } from './problem.ts'

/** The headers with which each face sends this problem. */
async function headersOf(problem: Problem) {
  const app = Fastify()
  installProblems(app)
  const refuse = async () => {
    throw problem
  }
  app.get('/rest', refuse)
  app.get('/openai', { config: { errors: 'openai' } }, refuse)
  const responses = await Promise.all([app.inject('/rest'), app.inject('/openai')])
  return responses.map(({ headers }) => headers)
}

/** The `Retry-After` that each face gives for this wait. */
async function waitsFor(retryAfterSeconds: number): Promise<unknown[]> {
  const headers = await headersOf(new Problem('rate_limited', { retryAfterSeconds }))
  return headers.map((each) => each['retry-after'])
}

test('for windows of up to a minute, Retry-After is at most 59 seconds, which common clients wait', async () => {
  expect(await waitsFor(1)).toEqual(['1', '1'])
  expect(await waitsFor(59)).toEqual(['59', '59'])
  expect(await waitsFor(60)).toEqual(['59', '59'])
})

test('a longer wait is sent unchanged, except on the face whose clients would retry at once', async () => {
  expect(await waitsFor(3_600)).toEqual(['3600', '59'])
})

test.each([undefined, 7])(
  'a failure that a repetition only returns again is never to be retried',
  async (retryAfterSeconds) => {
    for (const reason of ['agent_rate_limited', 'unavailable'] as const) {
      const passing = await headersOf(new Problem(reason, { retryAfterSeconds }))
      expect(passing.map((each) => each['x-should-retry'])).toEqual(['true', 'true'])
      const final = await headersOf(new Problem(reason, { retryAfterSeconds, isFinal: true }))
      expect(final.map((each) => [each['x-should-retry'], each['retry-after']])).toEqual([
        ['false', undefined],
        ['false', undefined],
      ])
    }
  },
)
