import * as route from '@trunkline/examples/ai-sdk/kept-route.ts'
import { Trunkline } from '@trunkline/sdk'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { HAS_BROWSER, launchBrowser } from '../../support/browser.ts'
import { type CountedKey, createCountedKey } from '../../support/calls-of-key.ts'
import { type GatewayWithSandbox, startGatewayWithSandbox } from '../../support/gateway-with-sandbox.ts'
import { type Steps, startSteps } from '../../support/stepwise-platform.ts'
import { servePages } from '../support/example-page.ts'

// A browser, because a reload ends the page with its connections, and what the next page shows is the hook's work.

describe.runIf(HAS_BROWSER)('the example page whose answers survive a reload', () => {
  let platform: Steps
  let system: GatewayWithSandbox
  let pages: Awaited<ReturnType<typeof servePages>>
  let browser: Browser
  let page: Page
  let key: CountedKey
  const answer = () => page.getByRole('article', { name: 'Agent' })

  beforeAll(async () => {
    platform = await startSteps()
    const steps = { platform: 'openai', baseUrl: platform.origin, apiKey: 'sk-test', model: 'steps' }
    system = await startGatewayWithSandbox({ agents: () => ({ steps }) })
    pages = await servePages('/api/kept-chat', route)
    browser = await launchBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await pages?.close()
    await system?.remove()
    await platform?.close()
  })

  beforeEach(async () => {
    key = await createCountedKey(system)
    vi.stubEnv('TRUNKLINE_URL', system.gateway.url)
    vi.stubEnv('TRUNKLINE_API_KEY', key.apiKey)
    vi.stubEnv('TRUNKLINE_AGENT', 'steps')
    vi.spyOn(console, 'error').mockImplementation(() => undefined)
    // Each page has a storage of its own.
    page = await browser.newPage()
    await page.goto(`${pages.url}kept.html`)
  })
  afterEach(async () => {
    await page.close()
    vi.unstubAllEnvs()
  })

  const send = async (query: string) => {
    await page.getByLabel('Message').fill(query)
    await page.getByRole('button', { name: 'Send' }).click()
  }
  /** Sends a question, whose answer then stands still after its first word. */
  const sendAndReadOneWord = async (query: string) => {
    await send(query)
    await platform.send('One ')
    await answer().getByText('One').waitFor()
  }
  const hasEnded = () => page.getByRole('button', { name: 'Send' }).waitFor()

  test('shows the whole answer after a reload amid it, of one run, and goes on with the conversation', async () => {
    await sendAndReadOneWord('Hello')
    await page.reload()
    await answer().getByText('One').waitFor()
    await platform.end('two.')
    await hasEnded()
    expect(await page.getByRole('article').allTextContents()).toEqual(['Hello', 'One two.'])
    const [first, ...others] = await key.calls(1)
    expect([first, others]).toMatchObject([{ outcome: 'done' }, []])

    const asked = page.waitForRequest((request) => request.method() === 'POST')
    await send('And now?')
    expect((await asked).postDataJSON()).toMatchObject({ conversationId: first?.conversation })
    await platform.end('Three.')
    await hasEnded()
    expect(await answer().allTextContents()).toEqual(['One two.', 'Three.'])
    // That visitors leave and come back is nothing for the log.
    expect(console.error).not.toHaveBeenCalled()
  })

  test('shows the whole answer also where it has ended while there was no page, and asks for it once', async () => {
    await sendAndReadOneWord('Hello')
    await page.goto('about:blank')
    await platform.end('two.')
    await key.calls(1)
    await page.goto(`${pages.url}kept.html`)
    await answer().getByText('One two.').waitFor()
    await hasEnded()

    const resumed = page.waitForResponse('**/api/kept-chat?*')
    await page.reload()
    expect((await resumed).status()).toBe(204)
    expect(await page.getByRole('article').allTextContents()).toEqual(['Hello', 'One two.'])
    expect(await key.calls(1)).toHaveLength(1)
  })

  test('goes on when it is shown again after its connection was lost', async () => {
    await sendAndReadOneWord('Hello')
    pages.breakConnections()
    await page.getByRole('alert').waitFor()
    await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))
    await page.getByRole('button', { name: 'Stop' }).waitFor()
    await platform.end('two.')
    await hasEnded()
    expect(await page.getByRole('article').allTextContents()).toEqual(['Hello', 'One two.'])
    expect(await page.getByRole('alert').count()).toBe(0)
    expect(await key.calls(1)).toHaveLength(1)
  })

  test('stops the agent when Stop is pressed, also after a reload, and keeps what there was', async () => {
    await sendAndReadOneWord('Hello')
    await page.reload()
    await answer().getByText('One').waitFor()
    await page.getByRole('button', { name: 'Stop' }).click()
    expect(await key.calls(1)).toMatchObject([{ outcome: 'client_gone', reason: 'stopped' }])

    await page.reload()
    await hasEnded()
    expect(await page.getByRole('article').allTextContents()).toEqual(['Hello', 'One '])
    expect(await page.getByRole('alert').count()).toBe(0)
    expect(console.error).not.toHaveBeenCalled()
  })

  test('shows a failure, and shows it again after a reload', async () => {
    vi.stubEnv('TRUNKLINE_AGENT', 'dify')
    await send('Hello sandbox:error-midstream')
    const failure = 'The answer could not be given. Please try again.'
    await page.getByRole('alert').getByText(failure).waitFor()
    const text = await answer().textContent()
    await page.reload()
    await page.getByRole('alert').getByText(failure).waitFor()
    expect(await answer().allTextContents()).toEqual([text])
    expect(await key.calls(1)).toMatchObject([{ reason: 'agent_error' }])
  })

  test('reaches no call of the same API key that another program has made', async () => {
    const client = new Trunkline({ agent: 'dify' })
    await client.chat.create({ query: 'A secret', idempotencyKey: 'order-17' })
    const response = await page.request.get(`${pages.url}api/kept-chat?id=order-17`)
    expect(await response.text()).not.toContain('secret')
    expect(console.error).toHaveBeenCalledWith(expect.objectContaining({ reason: 'call_not_found' }))
  })
})
