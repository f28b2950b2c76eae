import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { verifyChain } from '#core/audit/verify-chain.ts'
import { auditEventsOf } from '#core/database/table-rows.test-support.ts'
import { createLogger } from '#ops/logger.ts'
import { createServer } from '#server/create-server.ts'
import { CALLERS, type Callers, openCallers } from './callers.test-support.ts'
import { CONTRACT, OPERATIONS, requestOf } from './operations.test-support.ts'

let all: Callers
let app: FastifyInstance

beforeAll(async () => {
  all = await openCallers({ chatsPerMinute: 10_000 })
  app = await createServer(all.config, all.gateway, createLogger('silent'))
})
afterAll(async () => {
  await app?.close()
  await all?.close()
})

/** These have a row in the ledger, with more about them. */
const IN_THE_LEDGER = ['chat', 'createCompletion', 'createResponse', 'upload', 'stopCall', 'rateCall']

/** The reasons for refusing an operation to an authenticated caller. */
const FORBIDDEN: readonly (string | undefined)[] = [
  'permission_denied',
  'role_denied',
  'access_token_required',
]

const eventsOf = (requestId: string) => auditEventsOf(all.database.sql, { request_id: requestId })

test('a refused field of GraphQL is named by its event', async () => {
  await app.inject({
    method: 'POST',
    url: '/graphql',
    headers: { authorization: `Bearer ${all.callers.premium.credential}`, 'x-request-id': 'refused-field' },
    payload: { query: '{ users(first: 1) { nodes { id } } }' },
  })
  await vi.waitFor(async () =>
    expect(await eventsOf('refused-field')).toMatchObject([
      {
        operation: 'users',
        result: 'refused',
        reason: 'role_denied',
        userId: all.callers.premium.principal?.userId,
      },
    ]),
  )
})

const changing = [...CONTRACT]
  .filter(([operationId, { method }]) => method !== 'GET' && Object.hasOwn(OPERATIONS, operationId))
  .map(([operationId]) => operationId)
  .filter((operationId) => !IN_THE_LEDGER.includes(operationId))

test('every operation that is said to be in the ledger exists', () => {
  for (const operationId of IN_THE_LEDGER) expect(CONTRACT.has(operationId), operationId).toBe(true)
})

test.each(changing)(
  '%s leaves an event of each caller who may do it, and of no other',
  async (operationId) => {
    for (const name of CALLERS) {
      const requestId = `${operationId}-${name.replaceAll(/\W/g, '-')}`
      const request = await requestOf(operationId, all, name)
      const response = await app.inject({
        ...request,
        headers: { ...request.headers, 'x-request-id': requestId },
      })
      const { reason } = response.json<{ reason?: string }>()
      if (FORBIDDEN.includes(reason)) {
        // It is recorded in the background.
        await vi.waitFor(async () =>
          expect(await eventsOf(requestId), name).toMatchObject([{ result: 'refused', reason }]),
        )
      }
      const done = (await eventsOf(requestId)).filter(({ result }) => result === 'done')
      expect(done.length > 0, `${name}: ${response.body}`).toBe(response.statusCode < 300)
    }
  },
)

const FROM = '2026-11-01T00:00:00Z'
test.each(['usage', 'calls', 'refusals', 'refusals/counts', 'audit'])(
  'a download of %s leaves an event that says what was asked for',
  async (list) => {
    const { credential, principal } = all.callers.admin
    const response = await app.inject({
      url: `/api/v1/${list}?format=csv&from=${FROM}`,
      headers: { authorization: `Bearer ${credential}`, 'x-request-id': `csv-of-${list.replace('/', '-')}` },
    })
    expect(response.statusCode).toBe(200)
    const [event] = await eventsOf(`csv-of-${list.replace('/', '-')}`)
    expect(event).toMatchObject({
      operation: 'export',
      actor: 'token',
      userId: principal?.userId,
      targetId: list.replace('/', '-').replace('refusals-', 'refusal-'),
      after: expect.stringContaining(`"from":"${FROM}"`),
    })
  },
)

test('the chain of events holds after all of these operations', async () => {
  expect(await verifyChain(all.database.sql)).toMatchObject({ faults: [] })
})
