import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { messages } from '../../apps/console/messages/en.ts'
import { HAS_BROWSER } from '../support/browser.ts'
import { type ConsoleInBrowser, startConsole } from '../support/console-page.ts'
import { CLOSED_PORT } from '../support/free-port.ts'

// A browser, because what a reader learns of a deployment depends on the role and the time zone in which the page is shown.
// A gateway of its own, because the calls of other files would be in the numbers of its agents.

const { title } = messages.agents.deployments
const ONE_PROCESS = /^1 process$/

describe.runIf(HAS_BROWSER)('the page of the agents', () => {
  let console: ConsoleInBrowser

  beforeAll(async () => {
    const away = ({ dify }: Readonly<Record<string, object>>) => ({
      away: { ...dify, name: 'Away', baseUrl: `http://127.0.0.1:${CLOSED_PORT}` },
    })
    console = await startConsole({ agents: away })
  })
  afterAll(() => console?.remove())

  const details = (page: Page, name: string) => page.getByRole('region', { name, exact: true })

  test('has a row for each agent with its calls, failures and times of the last 24 hours, which opens in place and by its address', async () => {
    const { api, key } = console.system
    await (await api.chat(key, 'dify')).text()
    await (await api.chat(key, 'dify', { query: 'sandbox:error=quota' })).text()
    const { page, problems } = await console.open('/agents')
    const row = page.getByRole('row', { name: /^Dify/ })
    await expect.poll(() => row.getByRole('cell').nth(2).textContent()).toBe('2')
    expect(await row.getByRole('cell').nth(3).textContent()).toBe('1')
    expect(await row.getByRole('cell').nth(5).textContent()).toMatch(/^≈ \d/)
    expect(await details(page, 'Dify').count()).toBe(0)
    const opener = row.getByRole('link', { name: 'Dify', exact: true })
    await row.getByRole('cell').first().click()
    await details(page, 'Dify').getByText('Streaming · ').waitFor()
    expect(await opener.getAttribute('aria-expanded')).toBe('true')
    expect(new URL(page.url()).search).toBe('?id=dify')
    await page.reload()
    await details(page, 'Dify').waitFor()
    await opener.click()
    await details(page, 'Dify').waitFor({ state: 'detached' })
    await row.getByRole('cell').nth(3).getByRole('link').click()
    await page.waitForURL(/calls\?agent=dify&outcome=FAILED/)
    await page.getByRole('heading', { level: 2, name: '1 call' }).waitFor()
    expect(problems).toEqual([])
  })

  test('shows an administrator each deployment with its load, and the processes on demand', async () => {
    const { page, problems } = await console.open('/agents?id=dify')
    const card = details(page, 'Dify')
    const deployments = card.getByRole('list', { name: title, exact: true })
    await deployments.waitFor()
    const text = await deployments.textContent()
    expect(text).toMatch(/main.*Answers.*In use.*0 calls in progress/)
    await deployments.getByText(ONE_PROCESS).click()
    const row = deployments.getByRole('table').getByRole('row').nth(1)
    expect(await row.textContent()).toContain(String(console.system.gateway.pid))
    expect(problems).toEqual([])
  })

  test('does not say of a deployment that it is in use without trouble while no probe is answered', async () => {
    const { page } = await console.open('/agents?id=away')
    const card = details(page, 'Away')
    const deployments = card.getByRole('list', { name: title, exact: true })
    await deployments.getByText(ONE_PROCESS).click()
    await deployments.getByRole('table').waitFor()
    const text = await deployments.textContent()
    expect(text).toMatch(
      /main.*No answer.*Still gets calls.*No probe has been answered since .*Calls are still/,
    )
    expect(text).not.toContain('In use')
  })

  test('says in its row since when and why an agent cannot serve calls, as the overview does, also to others than administrators', async () => {
    const { api, token } = console.system
    const user = await api.createUser(token, 'grace', { role: 'premium' })
    const { full_key } = await api.createKey(token, { name: 'of grace', owner_id: user.id })
    await (await api.chat(full_key, 'dify')).text()
    const { page } = await console.open('/', user, { timezoneId: 'Asia/Shanghai' })
    const row = page.getByRole('row', { name: /^Away .*Unavailable/ })
    const isSaid = async () => {
      await row.getByText('Unavailable', { exact: true }).waitFor()
      const since = row.getByText(/^Since \d+:\d+:\d+ [AP]M/)
      expect(await since.getAttribute('title')).toMatch(/\d, \d+:\d+:\d+ [AP]M GMT\+8$/)
      expect(await row.textContent()).toContain('The agent platform did not answer. agent_unreachable')
    }
    await isSaid()
    await row.getByRole('link', { name: 'Unavailable' }).click()
    await page.waitForURL(/\/agents\?id=away/)
    await isSaid()
  })

  test('an agent of whose latest calls nearly all failed is failing, although it can be reached', async () => {
    const { api, key } = console.system
    for (let call = 0; call < 5; call += 1)
      await (await api.chat(key, 'coze', { query: 'sandbox:error=quota' })).text()
    const { page } = await console.open('/agents')
    const failing = page.getByRole('row', { name: /^Coze/ }).getByRole('link', { name: 'Failing: 100%' })
    expect(await failing.getAttribute('title')).toMatch(/^5 of 5 calls since .* have failed\.$/)
    expect(await page.getByText(/^Failing/).count()).toBe(1)
    await failing.click()
    await page.waitForURL(/calls\?agent=coze&outcome=FAILED/)
    await page.getByRole('heading', { level: 2, name: '5 calls' }).waitFor()
  })

  test('shows others the status of each agent alone', async () => {
    const { api, token } = console.system
    const { page, problems } = await console.open('/agents?id=dify', await api.createUser(token, 'ada'))
    await page.getByRole('row', { name: /^Dify/ }).getByText('Available', { exact: true }).waitFor()
    expect(await details(page, 'Dify').getByText(title, { exact: true }).count()).toBe(0)
    expect(problems).toEqual([])
  })
})
