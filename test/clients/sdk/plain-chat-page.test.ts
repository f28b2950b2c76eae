import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as route from '@trunkline/examples/ai-sdk/plain-route.ts'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { HAS_BROWSER, launchBrowser } from '../../support/browser.ts'
import { type CountedKey, createCountedKey } from '../../support/calls-of-key.ts'
import { type GatewayWithSandbox, startGatewayWithSandbox } from '../../support/gateway-with-sandbox.ts'
import { AI_SDK_PAGES, servePages } from '../support/example-page.ts'

// A browser, because the page reads the stream of its route, and what is clicked in its form must reach the agent.

test.each(['plain-route.ts', 'plain-chat.tsx', 'pause-form.tsx'])(
  'docs/pauses.md quotes %s as it is',
  async (file) => {
    const page = await readFile(join(AI_SDK_PAGES, '../../docs/pauses.md'), 'utf8')
    expect(page).toContain(`// examples/ai-sdk/${file}\n${await readFile(join(AI_SDK_PAGES, file), 'utf8')}`)
  },
)

describe.runIf(HAS_BROWSER)('the example page without the AI SDK', () => {
  let system: GatewayWithSandbox
  let pages: Awaited<ReturnType<typeof servePages>>
  let browser: Browser
  let page: Page
  let key: CountedKey

  beforeAll(async () => {
    system = await startGatewayWithSandbox()
    pages = await servePages('/api/plain-chat', route)
    browser = await launchBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await pages?.close()
    await system?.remove()
  })
  beforeEach(async () => {
    key = await createCountedKey(system)
    vi.stubEnv('TRUNKLINE_URL', system.gateway.url)
    vi.stubEnv('TRUNKLINE_API_KEY', key.apiKey)
    vi.stubEnv('TRUNKLINE_AGENT', 'fastgpt')
    vi.stubEnv('TRUNKLINE_APP', 'demo')
    vi.spyOn(console, 'error').mockImplementation(() => undefined)
    page = await browser.newPage()
    await page.goto(`${pages.url}plain.html`)
  })
  afterEach(async () => {
    await page.close()
    vi.unstubAllEnvs()
  })

  const question = () => page.getByRole('form', { name: 'Question' })
  const send = async (query: string) => {
    await page.getByLabel('Message').fill(query)
    await page.getByRole('button', { name: 'Send' }).click()
  }

  test('shows a question with its options, sends the one that is clicked, and goes on', async () => {
    await send('sandbox:interactive')
    await question().getByRole('button', { name: '确认' }).click()
    await page.getByText('你选择了“确认”').waitFor()
    expect(await question().count()).toBe(0)
    await send('Thanks.')
    await page.getByRole('article', { name: 'Agent' }).getByText('Thanks.').waitFor()
    const calls = await key.calls(3)
    expect(new Set(calls.map(({ conversation }) => conversation)).size).toBe(1)
  })

  test('says so where the question was answered elsewhere', async () => {
    await send('sandbox:interactive')
    await question().waitFor()
    const [asked] = await key.calls(1)
    const more = { query: '取消', app_id: 'demo', chat_id: asked?.conversation }
    expect((await system.api.chat(key.apiKey, 'fastgpt', more)).status).toBe(200)
    await question().getByRole('button', { name: '确认' }).click()
    await page.getByRole('alert').getByText('This question is over.').waitFor()
    expect(await question().count()).toBe(0)
  })
})
