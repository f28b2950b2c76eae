import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HAS_BROWSER, launchBrowser } from '../support/browser.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'

// A browser, because the policy under which the gateway serves the console is enforced by a browser alone.

describe.runIf(HAS_BROWSER)('the console in a browser', () => {
  let folder: string
  let gateway: TestGateway
  let browser: Browser

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'trunkline-console-'))
    const trustedDocuments = join(folder, 'documents.json')
    await writeFile(trustedDocuments, '{}')
    const config = {
      agents: { openai: { baseUrl: 'http://127.0.0.1:9', model: 'm' } },
      // The strictest setting: only what the console itself sends is executed.
      graphql: { documents: 'trusted', trustedDocuments },
    }
    gateway = await startGateway({ config: JSON.stringify(config) })
    browser = await launchBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await gateway?.remove()
    if (folder !== undefined) await rm(folder, { recursive: true })
  })

  test('loads within its policy from the address that the gateway prints, logs in with its own documents, and survives a reload', async () => {
    const { url } = gateway
    const [ready] = await gateway.prints(/Trunkline is ready:.*/)
    expect(ready).toContain(`Trunkline is ready:  ${url}/console `)
    // In a language of its own, so that the test does not depend on the one of the machine.
    const context = await browser.newContext({ locale: 'en-US' })
    const page = await context.newPage()
    const errors: string[] = []
    const requests: string[] = []
    page.on('pageerror', (error) => errors.push(String(error)))
    // What the policy refuses is an error in this log as well.
    page.on('console', (message) => {
      if (message.type() === 'error' || message.text().includes('Content Security'))
        errors.push(message.text())
    })
    page.on('request', (request) => requests.push(request.url()))
    /** Acts, and returns what the first query after it results in; a subscription has no end. */
    const resultAfter = async (act: () => Promise<unknown>): Promise<object> => {
      const response = page.waitForResponse(
        (each) =>
          new URL(each.url()).pathname === '/graphql' &&
          each.headers()['content-type']?.includes('json') === true,
      )
      await act()
      return (await response).json()
    }

    await page.goto(url)
    expect(new URL(page.url()).pathname).toMatch(/^\/console/)
    // An address within the console is no file: the page is loaded and reads the address.
    await page.goto(`${url}/console/account`)
    await page.locator('input[autocomplete=username]').fill(gateway.admin.username)
    await page.locator('input[type=password]').fill(gateway.admin.password)
    const ofLogin = await resultAfter(() => page.locator('button[type=submit]').click())
    const ofReload = await resultAfter(() => page.reload())
    for (const result of [ofLogin, ofReload]) {
      expect(result).toEqual({ data: expect.any(Object) })
    }
    await page.locator('nav').first().waitFor()

    expect(errors).toEqual([])
    expect(new Set(requests.map((request) => new URL(request).origin))).toEqual(new Set([url]))
    await context.close()
  })

  test('the documents of others are refused nevertheless', async () => {
    const response = await fetch(`${gateway.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: '{ agents { id } }' }),
    })
    expect(await response.json()).toMatchObject({
      errors: [{ extensions: { code: 'document_not_trusted' } }],
    })
  })
})
