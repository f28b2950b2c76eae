import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HAS_BROWSER, launchBrowser } from '../support/browser.ts'
import { type GatewayWithSandbox, startGatewayWithSandbox } from '../support/gateway-with-sandbox.ts'

// A browser, because the page must work under its policy, with its own files alone, and follow a subscription.

let system: GatewayWithSandbox
beforeAll(async () => {
  system = await startGatewayWithSandbox()
})
afterAll(() => system?.remove())

const SUBSCRIPTION =
  'subscription Follow { chat(input: { agentId: "fastgpt", appId: "demo", query: "Hello!" }) { __typename } }'

const HTML = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

describe('the page of GraphiQL', () => {
  test('is for browsers alone: a client of GraphQL gets no HTML', async () => {
    const url = `${system.gateway.url}/graphql`
    const page = await fetch(url, { headers: HTML })
    expect(page.status).toBe(200)
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(page.headers.get('vary')).toContain('Accept')
    const reply = await fetch(`${url}?query={__typename}`, { headers: { accept: '*/*' } })
    expect(await reply.json()).toEqual({ data: { __typename: 'Query' } })
  })

  test('names no other origin, and every file that it names is served and kept by browsers', async () => {
    const page = await fetch(`${system.gateway.url}/graphql`, { headers: HTML })
    const html = await page.text()
    expect(html).not.toMatch(/(?:src|href)="(?:https?:)?\/\//)
    expect(page.headers.get('content-security-policy')).toMatch(/default-src 'none'/)
    const files = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, file = '']) => file)
    expect(files).toHaveLength(5)
    for (const file of files) {
      const first = await fetch(new URL(file, page.url))
      expect(first.status).toBe(200)
      expect((await first.text()).length).toBeGreaterThan(0)
    }
    const script = await fetch(`${system.gateway.url}/graphql/graphiql/graphiql.js`, { method: 'HEAD' })
    const etag = script.headers.get('etag') ?? ''
    const again = await fetch(script.url, { headers: { 'if-none-match': etag } })
    expect(again.status).toBe(304)
  })
})

describe.runIf(HAS_BROWSER)('GraphiQL in a browser', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launchBrowser()
  })
  afterAll(() => browser?.close())

  async function openPage(): Promise<{ page: Page; requests: string[]; errors: string[] }> {
    const page = await browser.newPage({ viewport: { width: 1280, height: 760 } })
    const requests: string[] = []
    const errors: string[] = []
    page.on('request', (request) => requests.push(request.url()))
    page.on('pageerror', (error) => errors.push(String(error)))
    page.on('console', (message) => {
      if (message.type() === 'error') errors.push(message.text())
    })
    await page.goto(`${system.gateway.url}/graphql`)
    await page.locator('.graphiql-execute-button').waitFor()
    return { page, requests, errors }
  }

  const run = (page: Page) => page.locator('.graphiql-execute-button').click()
  async function openTab(page: Page, name: string): Promise<void> {
    await page.locator('.graphiql-tab-button', { hasText: name }).click()
    // GraphiQL reads the document of a tab a moment after it shows it, and then writes it into the address.
    await page.waitForFunction((name) => {
      const query = new URL(location.href).searchParams.get('query') ?? ''
      return new RegExp(`^(?:query|mutation|subscription) ${name}\\b`, 'm').test(query)
    }, name)
  }

  async function openDocument(page: Page, query: string): Promise<void> {
    await page.goto(`${system.gateway.url}/graphql?query=${encodeURIComponent(query)}`)
    await page.locator('.graphiql-tab-active', { hasText: 'Follow' }).waitFor()
  }

  /** Waits until the result, without white space, matches. */
  const result = (page: Page, pattern: RegExp) =>
    page.waitForFunction((source) => {
      const shown = document.querySelector('.result-window')?.textContent ?? ''
      return new RegExp(source).exec(shown.replaceAll(/\s/g, ''))?.[0]
    }, pattern.source)

  async function logIn(page: Page): Promise<void> {
    await page.locator('.graphiql-editor-tool .monaco-editor').first().click()
    // Line 4 ends with the quotes around the password.
    for (const key of ['Control+Home', 'ArrowDown', 'ArrowDown', 'ArrowDown', 'End', 'ArrowLeft']) {
      await page.keyboard.press(key)
    }
    await page.keyboard.type(system.gateway.admin.password)
    await run(page)
    await page.waitForFunction(() => document.querySelector<HTMLInputElement>('#token')?.value !== '')
  }

  test('the tabs lead from a login to a chat, without a request to another origin', async () => {
    const { page, requests, errors } = await openPage()
    await logIn(page)
    await openTab(page, 'CreateKey')
    await run(page)
    await page.waitForFunction(() => document.querySelector<HTMLInputElement>('#key')?.value !== '')
    await openTab(page, 'Chat')
    await run(page)
    await result(page, /"chat":\{"text":".+","finishReason":"STOP"/)
    const tabs = await page.locator('.graphiql-tab').allInnerTexts()
    expect(tabs).toEqual(['Login', 'CreateKey', 'Chat'])
    await page.reload()
    await page.locator('.graphiql-tab-active', { hasText: 'Chat' }).waitFor()
    expect(await page.locator('.graphiql-tab').allInnerTexts()).toEqual(tabs)
    expect(await page.locator('#key').inputValue()).toMatch(/^tl_/)
    await openDocument(page, SUBSCRIPTION)
    await run(page)
    await result(page, /"__typename":"ChatFinished"/)
    const stored = await page.evaluate(() => JSON.stringify(localStorage))
    expect(stored).not.toContain(system.gateway.admin.password)
    expect(stored).not.toMatch(/tl_|Bearer/)
    expect(errors).toEqual([])
    const other = requests.filter((url) => /^(?:http|ws)/.test(url) && !url.startsWith(system.gateway.url))
    expect(other).toEqual([])
  })
})

test('nothing of GraphiQL is served where graphql.graphiql is false', async () => {
  const gateway = await startGatewayWithSandbox({ settings: { graphql: { graphiql: false } } })
  try {
    const page = await fetch(`${gateway.gateway.url}/graphql`, { headers: HTML })
    expect(page.headers.get('content-type')).not.toMatch(/html/)
    const script = await fetch(`${gateway.gateway.url}/graphql/graphiql/page.js`)
    expect(script.status).toBe(404)
  } finally {
    await gateway.remove()
  }
})
