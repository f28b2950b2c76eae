import { hostname } from 'node:os'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HAS_BROWSER } from '../support/browser.ts'
import { joinConsole, type SharedConsole } from '../support/console-page.ts'

// A browser, because the page shows the running process, and is reached from the pages of a call and of a deployment.

describe.runIf(HAS_BROWSER)('the page of the processes', () => {
  let console: SharedConsole

  beforeAll(async () => {
    console = await joinConsole('percy')
  })
  afterAll(() => console?.remove())

  test('shows the process that served a call, also to whoever comes from that call or from a deployment', async () => {
    const { api, key, gateway } = console.system
    const response = await api.chat(key, 'dify')
    await response.text()
    const { page, problems } = await console.open(`/calls/${response.headers.get('x-call-id')}`)
    await page.getByRole('link', { name: 'Show the process' }).click()
    const row = page.getByRole('row', { name: hostname() }).filter({ hasText: String(gateway.pid) })
    await row.getByText('Live', { exact: true }).waitFor()
    expect(await row.getAttribute('aria-current')).toBe('true')

    await page.getByRole('link', { name: 'Deployments' }).click()
    const agents = page.getByRole('main')
    await agents.getByRole('link', { name: 'Dify', exact: true }).click()
    await agents.getByText(/^1 process$/).click()
    await agents.getByRole('link', { name: hostname() }).first().click()
    await row.waitFor()
    await page.getByRole('button', { name: 'Ended' }).click()
    await row.waitFor({ state: 'detached' })
    expect(problems).toEqual([])
  })

  test('versions side by side stand out, and so do deployments that a process does not use, what is wrong with its file, and what was lost', async () => {
    const { page } = await console.open('/account')
    const error = 'agents.dify.deployments[0].baseUrl must be an address that begins with http:// or https://'
    // Stands in for a second process of an older version, during an update, and for one before it that was killed.
    await page.route('**/graphql', async (route) => {
      const response = await route.fetch()
      const body = (await response.json()) as { data?: { gatewayProcesses?: object[] } }
      const processes = body.data?.gatewayProcesses as
        | { configuration: object; startedAt: string }[]
        | undefined
      const [own] = processes ?? []
      if (own === undefined) return route.fulfill({ response })
      const breaker = { agentId: 'dify', deploymentId: 'eu-1', breaker: 'OPEN', openSince: null }
      const breakers = [{ ...breaker, reason: 'agent_timeout' }]
      const configuration = { ...own.configuration, state: 'DIFFERENT', error }
      const other = {
        ...own,
        id: 'other',
        host: 'gw-2',
        port: 3001,
        pid: 12,
        version: '0.0.9',
        breakers,
        configuration,
      }
      const lastSeenAt = new Date(Date.parse(own.startedAt) - 1_000).toISOString()
      const ended = { startedAt: lastSeenAt, lastSeenAt, breakers: [], configuration: null }
      body.data?.gatewayProcesses?.push(other, { ...other, ...ended, id: 'lost', pid: 11, state: 'LOST' })
      await route.fulfill({ response, json: body })
    })
    await page.getByRole('link', { name: 'Processes' }).click()
    await page.getByText('Different versions run side by side.').waitFor()
    await page.getByText('0.0.9: 1').waitFor()
    const row = page.getByRole('row', { name: 'gw-2:3001, pid 12' })
    await row.getByText('dify/eu-1').waitFor()
    await row.getByText('Not in use').waitFor()
    for (const cell of await row.getByRole('cell').all())
      expect(await cell.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0)
    expect(await row.textContent()).toContain(error)
    expect(await page.getByRole('row', { name: 'gw-2:3001, pid 11' }).count()).toBe(0)
    const notice = page.getByRole('status').filter({ hasText: '1 process was lost within the last 24 hours' })
    expect(await notice.textContent()).toMatch(/gw-2:3001, pid 11, last seen .*; replaced by pid 12/)
    await notice.getByRole('link', { name: 'Show the ended ones' }).click()
    await page.getByRole('row', { name: 'gw-2:3001, pid 11' }).getByText('Lost', { exact: true }).waitFor()
    expect(await notice.count()).toBe(0)
  })

  test('is shown to administrators alone', async () => {
    const { api, token } = console.system
    const { page } = await console.open('/processes', await api.createUser(token, 'no-operator'))
    await page.getByText('Only administrators see the processes.').waitFor()
    const pages = page.getByRole('navigation', { name: 'Pages' })
    await pages.getByRole('link', { name: 'Refusals' }).waitFor()
    expect(await pages.getByRole('link', { name: /Processes|Audit/ }).count()).toBe(0)
  })
})
