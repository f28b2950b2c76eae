import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HAS_BROWSER } from '../support/browser.ts'
import { type ConsoleInBrowser, startConsole } from '../support/console-page.ts'
import { graphql } from '../support/graphql.ts'
import { until } from '../support/until.ts'

// A browser, because the search, the filters and the counts of a page are followed from a refusal to its explanation.
// A gateway of its own, because its limits are small.

/** More chats than are refused for other reasons. */
const LIMIT = { points: 10, windowSeconds: 600 }
/** The pages and this test read more often than anybody. */
const MANY = { points: 100_000 }

describe.runIf(HAS_BROWSER)('refusals in the console', () => {
  let console: ConsoleInBrowser
  let mei: { id: string; username: string; password: string }
  /** Of mei, for one agent alone. */
  let narrow: { id: string; full_key: string }
  let revoked: { id: string; full_key: string }

  beforeAll(async () => {
    console = await startConsole({
      settings: { limits: { chat: LIMIT, calls: MANY, reads: MANY, reports: MANY } },
    })
    const { api, token } = console.system
    mei = await api.createUser(token, 'mei', { role: 'premium' })
    narrow = await api.createKey(token, { name: 'narrow', owner_id: mei.id, allowed_agents: ['dify'] })
    revoked = await api.createKey(token, { name: 'revoked' })
    await api.call('POST', `/api/v1/api-keys/${revoked.id}/revoke`, { token })
  })
  afterAll(() => console?.remove())

  const title = (page: Page, name: string) => page.getByRole('heading', { level: 1, name }).waitFor()

  /** Sends a chat that is refused, and waits until its refusal can be read. */
  async function refuse(key: string, agent: string, status: number, requestId: string) {
    const { api, gateway, token } = console.system
    const headers = { 'x-request-id': requestId }
    const response = await api.chat(key, agent, {}, { headers })
    expect([response.status, await response.text()]).toEqual([status, expect.anything()])
    await until(`the refusal of ${requestId} is kept`, async () => {
      const { data } = await graphql(gateway, `{ refusal(requestId: "${requestId}") { id } }`, { as: token })
      return (data as { refusal: object | null }).refusal
    })
  }

  /** Looks for an id in the search of every page. */
  async function search(page: Page, id: string): Promise<void> {
    const field = page.getByRole('combobox', { name: 'Search everything' })
    await field.fill(id)
    await field.press('Enter')
  }

  test('the list is filtered, the counts say who is throttled and by what, and what is found nowhere is said', async () => {
    await refuse(narrow.full_key, 'coze', 403, 'list-1')
    await refuse(narrow.full_key, 'coze', 403, 'list-1')
    await until('both are kept', async () => {
      const query = '{ refusals(filter: { requestId: "list-1" }) { nodes { id } } }'
      const { data } = await graphql(console.system.gateway, query, { as: console.system.token })
      return (data as { refusals: { nodes: object[] } }).refusals.nodes.length > 1
    })
    const { page, problems } = await console.open('/refusals')
    await title(page, 'Refusals')
    await page.getByLabel('Reason', { exact: true }).selectOption('agent_denied')
    const rows = page.getByRole('row').filter({ has: page.getByRole('rowheader').getByRole('link') })
    await expect.poll(() => rows.filter({ hasText: 'key_revoked' }).count()).toBe(0)
    // Those that are alike are one row until it is opened.
    const alike = rows.getByRole('button', { name: /^× [2-9] since/, expanded: false })
    await alike.first().click()
    await expect.poll(() => rows.filter({ hasText: 'agent_denied' }).count()).toBeGreaterThan(1)
    await rows.first().getByRole('link').click()
    await title(page, 'Refused request')
    // The client has sent two requests with this id.
    await page
      .getByRole('region', { name: 'Other refusals of this request' })
      .getByRole('row')
      .nth(1)
      .waitFor()
    await page.getByRole('link', { name: 'All refusals of this key' }).click()
    await page.waitForURL(/key=/)

    await page.getByRole('button', { name: 'Counts' }).click()
    const totals = page.getByRole('table', { name: 'The refusals of each group' })
    await totals.getByRole('row', { name: /^narrow agent_denied \(none\) [2-9]/ }).waitFor()
    await page.getByRole('button', { name: 'Agent', exact: true }).click()
    const row = totals.getByRole('row', { name: /^narrow coze agent_denied/ })
    // They were counted by the hour, and this one goes on; in its first minute a range would have the same time twice.
    expect(await row.getByRole('cell').last().textContent()).toMatch(/\d:00 ((AM |PM )?– \d+:\d\d )?[AP]M$/)
    await page
      .getByRole('img', { name: /^Refusals over time/ })
      .locator('canvas')
      .waitFor()

    await search(page, 'never-seen')
    await title(page, 'Calls')
    await page.getByText('No call in that time and no single refusal of the last 24 hours').waitFor()
    await page.getByRole('link', { name: 'Counts of the refusals' }).click()
    await page.getByText('Counts are kept for 30 days').waitFor()
    expect(problems).toEqual([])
  })

  test('a request of which only the count is kept is not called unknown: its id says when, and what was refused then', async () => {
    const { api, gateway, token } = console.system
    const flooder = await api.createKey(token, { name: 'flooder', allowed_agents: ['dify'] })
    // More than are kept of a key, a reason and an hour.
    const refused = async (status: number) => {
      const response = await api.chat(flooder.full_key, 'coze')
      expect([response.status, await response.text()]).toEqual([status, expect.anything()])
      return response.headers.get('x-request-id') ?? ''
    }
    await Promise.all(Array.from({ length: LIMIT.points }, () => refused(403)))
    await Promise.all(Array.from({ length: 21 }, () => refused(429)))
    const requestId = await refused(429)
    await until('all of them are counted', async () => {
      const query = `{ refusalCounts(filter: { keyId: "${flooder.id}" }) { count } }`
      const { data } = await graphql(gateway, query, { as: token })
      const { refusalCounts } = data as { refusalCounts: { count: number }[] }
      return refusalCounts.reduce((sum, { count }) => sum + count, 0) === LIMIT.points + 22
    })
    const { page } = await console.open('/account')
    await title(page, 'Account')
    await search(page, requestId)
    await title(page, 'Calls')
    await page.getByText(/around the time that this id carries, \d\d requests were refused/).waitFor()
    expect(await page.getByText('No calls found').count()).toBe(0)
    await page.getByRole('link', { name: 'Counts of the refusals' }).click()
    const totals = page.getByRole('table', { name: 'The refusals of each group' })
    await totals.getByRole('row', { name: /^flooder rate_limited Rate of chats 22/ }).waitFor()
    await page.goto(`${gateway.url}/console/refusals/${requestId}`)
    await page.getByText(/around the time that this id carries/).waitFor()
  })

  test('users see the refusals of their own keys alone', async () => {
    await refuse(narrow.full_key, 'coze', 403, 'own-1')
    await refuse(revoked.full_key, 'dify', 401, 'foreign-1')
    const { page } = await console.open('/refusals', mei, { viewport: { width: 390, height: 800 } })
    await title(page, 'Refusals')
    await page.getByRole('rowheader').first().waitFor()
    expect(await page.getByRole('row').filter({ hasText: 'key_revoked' }).count()).toBe(0)
    expect(await page.getByLabel('User', { exact: true }).count()).toBe(0)
    await search(page, 'foreign-1')
    await page.getByText('Neither a call nor a refusal found').waitFor()
    await search(page, 'own-1')
    await title(page, 'Refused request')
    for (const [show, empty] of [
      ['single', 'No refusals found'],
      ['counts', 'Nothing was refused'],
    ] as const) {
      await page.goto(`${console.system.gateway.url}/console/refusals?show=${show}&reason=key_revoked`)
      await page.getByText(empty).waitFor()
      await page.getByText('the metric trunkline_refusals_dropped_total counts them').waitFor()
    }
  })
})
