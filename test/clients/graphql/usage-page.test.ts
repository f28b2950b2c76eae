import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { createServer, defaultClientConditions, type ViteDevServer } from 'vite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HAS_BROWSER, launchBrowser } from '../../support/browser.ts'
import { type GatewayWithSandbox, startGatewayWithSandbox } from '../../support/gateway-with-sandbox.ts'

// A browser, because the page draws its chart itself, and only a reader of the page sees what is wrong with it.

const ROOT = join(import.meta.dirname, '../../../examples/usage-page')

describe.runIf(HAS_BROWSER)('the example page in a browser', () => {
  let system: GatewayWithSandbox
  let server: ViteDevServer
  let browser: Browser
  let page: Page

  beforeAll(async () => {
    system = await startGatewayWithSandbox()
    for (const agent of ['fastgpt', 'fastgpt', 'dify']) {
      await (await system.api.chat(system.key, agent, { chat_id: '' })).text()
    }
    const proxy = { '/graphql': system.gateway.url, '/api': system.gateway.url }
    server = await createServer({
      root: ROOT,
      configFile: false,
      logLevel: 'error',
      resolve: { conditions: ['@trunkline/source', ...defaultClientConditions] },
      server: { host: '127.0.0.1', port: 0, proxy },
    })
    await server.listen()
    browser = await launchBrowser()
    page = await browser.newPage({ viewport: { width: 900, height: 500 } })
    await page.goto(server.resolvedUrls?.local[0] ?? '')
  })
  afterAll(async () => {
    await browser?.close()
    await server?.close()
    await system?.remove()
  })

  async function logIn(password: string): Promise<void> {
    await page.getByLabel('Username').fill(system.gateway.admin.username)
    await page.getByLabel('Password').fill(password)
    await page.getByRole('button', { name: 'Log in' }).click()
  }

  test('says why a login fails', async () => {
    await logIn('another password')
    await page.getByText('The username or the password is wrong.').waitFor()
  })

  test('charts the calls of a month by agent, last month first', async () => {
    await logIn(system.gateway.admin.password)
    await page.getByText('There were no calls in this month.').waitFor()
    const now = new Date()
    const last = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1))
    expect(await page.getByLabel('Month').inputValue()).toBe(last.toISOString().slice(0, 7))

    await page.getByLabel('Month').fill(now.toISOString().slice(0, 7))
    await page.getByRole('row', { name: 'fastgpt 2' }).waitFor()
    const bars = await page
      .locator('meter')
      .evaluateAll((meters: HTMLMeterElement[]) => meters.map(({ value, max }) => value / max))
    expect(await page.locator('tbody tr').allInnerTexts()).toEqual(['fastgpt\t2\t', 'dify\t1\t'])
    expect(bars).toEqual([1, 0.5])
  })
})
