import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chatBody } from '../support/api.ts'
import { HAS_BROWSER, launchBrowser } from '../support/browser.ts'
import { type GatewayWithSandbox, startGatewayWithSandbox } from '../support/gateway-with-sandbox.ts'
import { contentOf } from '../support/stream.ts'

// A browser, because only a browser enforces the same-origin policy that the gateway's headers open.

// Skipped on a machine without a browser, unless REQUIRE_SERVICES is set.
describe.runIf(HAS_BROWSER)('a page in a browser', () => {
  let allowed: Server
  let forbidden: Server
  let system: GatewayWithSandbox
  let browser: Browser

  beforeAll(async () => {
    allowed = await pageServer()
    forbidden = await pageServer()
    system = await startGatewayWithSandbox({ settings: { cors: { origins: [originOf(allowed)] } } })
    browser = await launchBrowser()
  })
  afterAll(async () => {
    await browser.close()
    await system.remove()
    for (const server of [allowed, forbidden]) {
      server.closeAllConnections()
      server.close()
    }
  })

  async function pageOf(server: Server): Promise<Page> {
    const page = await browser.newPage()
    await page.goto(originOf(server))
    return page
  }

  /** Runs in the page: sends a request and reads the stream chunk by chunk. */
  const chatIn = (page: Page, body: Record<string, unknown>) =>
    page.evaluate(
      async ({ url, key, body }) => {
        const response = await fetch(`${url}/api/v1/chat`, {
          method: 'POST',
          headers: { authorization: `Bearer ${key}`, agent: 'fastgpt', 'content-type': 'application/json' },
          body: JSON.stringify(body),
        })
        const reader = (response.body as ReadableStream).pipeThrough(new TextDecoderStream()).getReader()
        const pieces: string[] = []
        for (let read = await reader.read(); !read.done; read = await reader.read()) pieces.push(read.value)
        return { status: response.status, headers: Object.fromEntries(response.headers), pieces }
      },
      { url: system.gateway.url, key: system.key, body },
    )

  test('of an allowed origin reads the stream while it arrives, and the exposed headers', async () => {
    const page = await pageOf(allowed)
    const query = 'sandbox:slow=20 sandbox:long=20 Hello'
    const { status, headers, pieces } = await chatIn(page, chatBody({ stream: true, query }))
    expect(status).toBe(200)
    expect(pieces.length).toBeGreaterThan(5)
    expect(contentOf(pieces.join(''))).toMatch(/^1 .* 20 /s)
    expect(pieces.join('')).toMatch(/data: \[DONE\]\n\n$/)
    expect(headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'x-request-id': expect.any(String),
      'x-call-id': expect.any(String),
      'x-conversation-id': 'chat-1',
      'ratelimit-policy': '"chat";q=100000;w=60',
      ratelimit: expect.any(String),
    })
  })

  test('of an allowed origin can also read an error response', async () => {
    const { status, headers, pieces } = await chatIn(
      await pageOf(allowed),
      chatBody({ query: 'sandbox:error=rate-limit Hello' }),
    )
    expect(status).toBe(429)
    expect(headers).toMatchObject({ 'retry-after': expect.any(String), 'x-request-id': expect.any(String) })
    expect(JSON.parse(pieces.join(''))).toMatchObject({ reason: 'agent_rate_limited' })
  })

  describe('the reference of the API', () => {
    async function openReference(): Promise<{ page: Page; blocked: string[] }> {
      const page = await browser.newPage()
      const blocked: string[] = []
      await page.exposeFunction('reportBlocked', (what: string) => blocked.push(what))
      await page.addInitScript(() => {
        document.addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI }) => {
          ;(window as unknown as { reportBlocked(what: string): void }).reportBlocked(
            `${effectiveDirective} ${blockedURI}`,
          )
        })
      })
      await page.goto(`${system.gateway.url}/docs`, { waitUntil: 'networkidle' })
      return { page, blocked }
    }

    test('shows its operations and sends requests within its policy', async () => {
      const { page, blocked } = await openReference()
      await page.getByText('Send a message to an agent', { exact: true }).first().waitFor()
      const isStyled = await page.evaluate(() => getComputedStyle(document.body).margin === '0px')
      expect(isStyled).toBe(true)
      const status = await page.evaluate(async () => (await fetch('/api/v1/agents')).status)
      expect(status).toBe(200)
      await page
        .getByRole('button', { name: /Test Request/ })
        .first()
        .click()
      await page.getByRole('button', { name: /^Send/ }).first().waitFor()
      // A library of the page tries whether it may compile code, and does without.
      expect(blocked.filter((what) => what !== 'script-src eval')).toEqual([])
    })

    test('runs no script but its own, and tells no other origin', async () => {
      const { page, blocked } = await openReference()
      const ran = await page.evaluate((other) => {
        const script = document.createElement('script')
        script.textContent = 'window.hasRun = true'
        document.body.append(script)
        const foreign = document.createElement('script')
        foreign.src = `${other}/script.js`
        document.body.append(foreign)
        return 'hasRun' in window
      }, originOf(forbidden))
      expect(ran).toBe(false)
      const told = page.evaluate((other) => fetch(other, { mode: 'no-cors' }), originOf(forbidden))
      await expect(told).rejects.toThrow('Failed to fetch')
      await expect
        .poll(() => [...blocked].sort())
        .toEqual(
          expect.arrayContaining([
            expect.stringMatching(/^connect-src /),
            'script-src-elem inline',
            expect.stringMatching(/^script-src-elem http/),
          ]),
        )
    })

    test('is shown in no frame of another page', async () => {
      const page = await pageOf(forbidden)
      const refused = page.waitForEvent('console', (message) => message.text().includes('frame-ancestors'))
      await page.evaluate((url) => {
        const frame = document.createElement('iframe')
        frame.src = url
        document.body.append(frame)
      }, `${system.gateway.url}/docs/`)
      await refused
    })
  })

  test('of another origin cannot read any response', async () => {
    await expect(chatIn(await pageOf(forbidden), chatBody())).rejects.toThrow('Failed to fetch')
  })
})

async function pageServer(): Promise<Server> {
  const server = createServer((_request, response) =>
    response.setHeader('content-type', 'text/html').end('<!doctype html><title>A page</title>'),
  )
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return server
}

function originOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
