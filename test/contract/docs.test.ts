import { afterAll, beforeAll, expect, test } from 'vitest'
import { HAS_BROWSER, launchBrowser } from '../support/browser.ts'
import { CONTRACT } from '../support/contract/contract.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'

// A browser, because the reference is a page whose script must run under its policy without asking another origin.

let gateway: TestGateway
beforeAll(async () => {
  // The gateway serves files itself only from a local disk, so only then its contract is complete.
  gateway = await startGateway({ isOnDisk: true })
})
afterAll(() => gateway?.remove())

test('/openapi.json serves the committed contract with the address of this gateway', async () => {
  const response = await fetch(`${gateway.url}/openapi.json`)
  expect(response.headers.get('content-type')).toMatch(/^application\/json/)
  const { servers, ...served } = (await response.json()) as typeof CONTRACT
  const { servers: _, ...committed } = CONTRACT
  expect(served).toEqual(committed)
  expect(servers).toHaveLength(1)
})

test('/docs refers only to its own origin, and every reference resolves', async () => {
  const page = await fetch(`${gateway.url}/docs`)
  expect(page.headers.get('content-type')).toMatch(/^text\/html/)
  const html = await page.text()
  expect(html).not.toMatch(/https?:|src="\/\/|href="\/\//)
  const scripts = [...html.matchAll(/<script[^>]* src="([^"]+)"/g)].map(([, source = '']) => source)
  expect(scripts).toHaveLength(1)
  for (const source of scripts) {
    const script = await fetch(new URL(source, page.url))
    expect(script.status).toBe(200)
    expect(script.headers.get('content-type')).toMatch(/^application\/javascript/)
    await script.body?.cancel()
  }
})

test.skipIf(!HAS_BROWSER)(
  'in a browser /docs shows the operations and requests no other origin',
  async () => {
    const browser = await launchBrowser()
    try {
      const page = await browser.newPage()
      const requestedUrls: string[] = []
      page.on('request', (request) => requestedUrls.push(request.url()))
      await page.goto(`${gateway.url}/docs/`, { waitUntil: 'networkidle' })
      await page.getByText('Send a message to an agent', { exact: true }).first().waitFor()
      expect(requestedUrls.filter((url) => /^(?:http|ws)/.test(url) && !url.startsWith(gateway.url))).toEqual(
        [],
      )
      expect(requestedUrls).toContain(`${gateway.url}/openapi.json`)
    } finally {
      await browser.close()
    }
  },
)
