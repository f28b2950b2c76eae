import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HAS_BROWSER } from '../support/browser.ts'
import { type ConsoleInBrowser, startConsole } from '../support/console-page.ts'
import { graphql } from '../support/graphql.ts'
import { until } from '../support/until.ts'

// A browser, because whether all is well is put together by the page from several answers, some of which fail.
// A gateway of its own, because all must be well with it, and its limits are small.

const MANY = { points: 100_000 }
const LIMIT = { points: 8, windowSeconds: 600 }
const DAY_MS = 86_400_000

describe.runIf(HAS_BROWSER)('the health of an installation in the overview', () => {
  let console: ConsoleInBrowser

  beforeAll(async () => {
    console = await startConsole({ settings: { limits: { chat: LIMIT, reports: MANY, reads: MANY } } })
    await ask(console.system.key)
  })
  afterAll(() => console?.remove())

  const card = (page: Page) => page.getByRole('region', { name: 'Is everything well?' })
  const ask = async (key: string) => {
    const response = await console.system.api.chat(key, 'dify')
    await response.text()
    return response.status
  }
  /** Answers the query with this name as if the gateway had said so, which may depend on what it says. */
  const pretend = (page: Page, name: string, answer: (data: object) => object) =>
    page.route('**/graphql', async (route) => {
      if (!new RegExp(`query ${name}\\b`).test(route.request().postData() ?? '')) return route.fallback()
      const response = await route.fetch()
      const { data } = (await response.json()) as { data: object }
      await route.fulfill({ response, json: { data: answer(data) } })
    })

  test('is nothing but that all is well, and for administrators alone', async () => {
    const { page, problems } = await console.open('/')
    await card(page).getByText('All is well').waitFor()
    expect(await card(page).getByRole('link').count()).toBe(0)
    expect(problems).toEqual([])
    const { api, token } = console.system
    const user = await api.createUser(token, 'bob', { role: 'premium' })
    const { full_key } = await api.createKey(token, { name: 'key of bob', owner_id: user.id })
    await ask(full_key)
    const other = await console.open('/', user)
    await other.page.locator('canvas').first().waitFor()
    expect(await card(other.page).count()).toBe(0)
  })

  describe('where something is not well', () => {
    beforeAll(async () => {
      const { api, token } = console.system
      const mei = await api.createUser(token, 'mei', { role: 'premium', max_api_calls: 1 })
      const expiresAt = new Date(Date.now() + 3 * DAY_MS).toISOString()
      const small = await api.createKey(token, { name: 'small', owner_id: mei.id, expires_at: expiresAt })
      const busy = await api.createKey(token, { name: 'busy' })
      await ask(small.full_key)
      for (let call = 0; call < LIMIT.points; call += 1) await ask(busy.full_key)
      expect(await ask(busy.full_key)).toBe(429)
      await until('the refusal is counted', async () => {
        const query = `{ refusalCounts(filter: { keyId: "${busy.id}" }) { count } }`
        const { data } = await graphql(console.system.gateway, query, { as: token })
        return (data as { refusalCounts: object[] }).refusalCounts.length > 0
      })
    })

    test('each concern is named, leads to its list, and what cannot be checked hides no other', async () => {
      const { page } = await console.open('/account')
      const agent = { statusReason: null, statusSince: null }
      await pretend(page, 'OverviewAgents', () => ({
        agents: [
          { ...agent, id: 'dify', name: 'Dify', status: 'UNAVAILABLE', statusReason: 'agent_unreachable' },
          { ...agent, id: 'coze', name: 'Coze', status: 'DEGRADED' },
        ],
      }))
      const at = new Date().toISOString()
      const process = { host: 'one', port: 8080, startedAt: at, lastSeenAt: at, concerns: [] }
      const behind = { concern: 'LEDGER_BEHIND', cause: null, blockedBy: 'process 4711 (psql)' }
      await pretend(page, 'HealthProcesses', () => ({
        gatewayProcesses: [
          { ...process, id: 'p-1', pid: 11, version: '1.0.0', state: 'LIVE', concerns: [behind] },
          { ...process, id: 'p-2', pid: 12, version: '1.1.0', state: 'LIVE' },
          { ...process, id: 'p-3', pid: 13, version: '1.1.0', state: 'LOST' },
        ],
      }))
      const groups = (p95: number) => [
        {
          agentId: 'dify',
          agent: { name: 'Dify' },
          totals: { calls: 20, failedCalls: 0, firstChunkMs: { p95 } },
        },
      ]
      for (const [name, p95] of [
        ['Overview', 6_000],
        ['OverviewBefore', 900],
      ] as const)
        await pretend(page, name, (data) => ({ usage: { ...Object.values(data)[0], groups: groups(p95) } }))
      await page.getByRole('link', { name: 'Overview' }).click()
      const concern = (name: string | RegExp) => card(page).getByRole('link', { name })
      await concern(/^1 agent is unavailable Dify \(agent_unreachable\)/).waitFor()
      await concern(/^1 agent is degraded Coze/).waitFor()
      await concern(/^1 agent takes longer .* Dify \(≈ 900 ms → ≈ 6 sec\)/).waitFor()
      await concern(/^1 process was lost .* one:8080, pid 13$/).waitFor()
      await concern(/^The gateway waits for a lock .* process 4711 \(psql\)$/).waitFor()
      await concern('The processes run 2 different versions').waitFor()

      await concern(/^1 agent is unavailable/).click()
      await page.waitForURL(/\/agents\?id=dify/)
      await page.goBack()
      await concern(/^1 API key expires within 7 days small/).click()
      await page.waitForURL(/\/keys\?expiring=7d/)
      await page.goBack()
      await concern(/^1 user has used up the quota mei/).click()
      await page.waitForURL(/\/users\?.*quota=/)
      await page.goBack()
      await concern(/^1 API key was throttled within the last hour busy/).click()
      await page.getByRole('table', { name: 'The refusals of each group' }).getByText('busy').waitFor()

      await page.route('**/graphql', async (route) => {
        if (route.request().postData()?.includes('query HealthUsers')) await route.abort()
        else await route.fallback()
      })
      await page.goto(`${console.system.gateway.url}/console/`)
      await card(page).getByText('Could not be checked: quotas.').waitFor()
      await concern(/^1 agent is unavailable/).waitFor()
    })
  })
})
