import { serverAudits } from 'graphql-http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../support/gateway.ts'

// A process, because the audits are those of a server, and ask it over HTTP.

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startGateway()
})

afterAll(() => gateway?.remove())

const audits = serverAudits({ url: () => `${gateway.url}/graphql` })

/** Each of the rules of GraphQL over HTTP, those that a server should or may follow as well. */
describe('GraphQL over HTTP', () => {
  test('there are 61 audits', () => {
    expect(audits).toHaveLength(61)
  })

  test.each(audits)('$id $name', async (audit) => {
    const result = await audit.fn()
    expect(result.status, 'reason' in result ? result.reason : '').toBe('ok')
  })
})
