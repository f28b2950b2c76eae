import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { basename, join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HAS_BROWSER, launchBrowser } from '../support/browser.ts'
import { type GatewayWithSandbox, startGatewayWithSandbox } from '../support/gateway-with-sandbox.ts'
import { type PackedPackage, packPackage } from '../support/packed-package.ts'

// A browser, because the package must load, stream and upload in a page of another origin.

describe.runIf(HAS_BROWSER)('the built package in a page of another origin', () => {
  let sdk: PackedPackage
  let server: Server
  let system: GatewayWithSandbox
  let browser: Browser
  let page: Page

  beforeAll(async () => {
    sdk = await packPackage('sdk')
    server = await servePage(join(sdk.installed, 'dist'))
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    system = await startGatewayWithSandbox({ settings: { cors: { origins: [origin] } } })
    browser = await launchBrowser()
    page = await browser.newPage()
    await page.goto(origin)
  })
  afterAll(async () => {
    await browser?.close()
    await system?.remove()
    server?.closeAllConnections()
    server?.close()
    await sdk?.remove()
  })

  /** Runs the body of an async function in the page, which has the package as `sdk` and a client as `client`. */
  function inPage(body: string): Promise<unknown> {
    const options = {
      baseURL: system.gateway.url,
      apiKey: system.key,
      agent: 'fastgpt',
      maxRetries: 0,
      dangerouslyAllowBrowser: true,
    }
    // As text, because vitest would compile an import in here for Node.
    return page.evaluate(`(async () => {
      const sdk = await import('/index.js')
      const options = ${JSON.stringify(options)}
      const client = new sdk.Trunkline(options)
      ${body}
    })()`)
  }

  test('chats, and reads the conversation from the headers that CORS exposes', async () => {
    const result = await inPage(`
      const { data, response, requestId } = await client.chat
        .create({ app_id: 'app-1', chat_id: 'page-1', query: 'Hello' }).withResponse()
      return { text: data.choices[0].message.content, id: response.headers.get('x-conversation-id'), requestId }`)
    expect(result).toEqual({
      text: expect.stringMatching(/\w/),
      id: 'page-1',
      requestId: expect.any(String),
    })
  })

  test('streams while the text arrives, and leaving the loop stops the agent', async () => {
    const pieces = await inPage(`
      const pieces = []
      const params = { app_id: 'app-1', query: 'sandbox:slow=20 sandbox:long=10000 Hello' }
      for await (const chunk of client.chat.stream(params)) {
        if (chunk.choices[0].delta.content) pieces.push(chunk.choices[0].delta.content)
        if (pieces.length === 3) break
      }
      return pieces`)
    expect(pieces).toHaveLength(3)
    const outcome = async () => {
      const { body } = await system.api.call('GET', '/api/v1/calls?limit=1', { token: system.token })
      return body.data.items[0].outcome
    }
    await expect.poll(outcome).toBe('client_gone')
  })

  test('gets the class, the reason and the wait of an error', async () => {
    const error = await inPage(`
      return client.chat.create({ app_id: 'app-1', query: 'sandbox:error=rate-limit Hello' }).catch((error) => ({
        isRateLimit: error instanceof sdk.RateLimitError, reason: error.reason, waits: error.retryAfterMs > 0,
      }))`)
    expect(error).toEqual({ isRateLimit: true, reason: 'agent_rate_limited', waits: true })
  })

  describe('an upload whose progress is wanted', () => {
    const PIECES = 3_000
    const TEXT = 'a line of text that goes up to the gateway, again and again\n'
    /** Has `steps`, which `onProgress` fills, and a file. */
    const uploadInPage = async (body: string) => {
      const { full_key } = await system.api.createKey(system.token, { permissions: ['upload'] })
      return await inPage(`
        const uploads = new sdk.Trunkline({ ...options, apiKey: '${full_key}' }).uploads
        const file = new File([${JSON.stringify(TEXT)}.repeat(${PIECES})], 'lines.txt')
        const steps = []
        const params = { created_by: 'page', onProgress: (step) => steps.push(step) }
        ${body}`)
    }

    test('tells how far it is, up to the whole form', async () => {
      const result = await uploadInPage(`
        const { data, requestId } = await uploads.create(file, params).withResponse()
        return { upload: data, requestId, steps }`)
      const { upload, requestId, steps } = result as {
        upload: object
        requestId: string
        steps: { loaded: number; total: number }[]
      }
      const size = TEXT.length * PIECES
      expect(upload).toMatchObject({ filename: 'lines.txt', size })
      expect(requestId).toEqual(expect.any(String))
      const loaded = steps.map((step) => step.loaded)
      expect(loaded).toEqual([...loaded].sort((a, b) => a - b))
      expect(loaded.at(-1)).toBeGreaterThan(size)
      expect(new Set(steps.map(({ total }) => total))).toEqual(new Set([loaded.at(-1)]))
    })

    test('ends with its signal', async () => {
      const result = await uploadInPage(`
        const controller = new AbortController()
        const onProgress = () => controller.abort('enough')
        const upload = uploads.create(file, { ...params, onProgress }, { signal: controller.signal })
        return await upload.catch(({ name, cause }) => ({ name, cause }))`)
      expect(result).toEqual({ name: 'AbortError', cause: 'enough' })
    })

    test('gets the class and the reason of an error', async () => {
      const result = await uploadInPage(`
        const program = new Blob([new Uint8Array([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0])])
        const isXhr = []
        const { XMLHttpRequest: Xhr } = globalThis
        globalThis.XMLHttpRequest = class extends Xhr { send(body) { isXhr.push(true); super.send(body) } }
        const error = await uploads.create(program, params).catch((error) => error)
        globalThis.XMLHttpRequest = Xhr
        const lost = new sdk.Trunkline({ baseURL: 'http://127.0.0.1:9', maxRetries: 0 }).uploads
        return {
          isXhr,
          isClass: error instanceof sdk.UnsupportedMediaTypeError,
          reason: error.reason,
          lost: await lost.create(file, params).catch(({ name }) => name),
        }`)
      expect(result).toEqual({
        isXhr: [true],
        isClass: true,
        reason: 'file_type_not_accepted',
        lost: 'ConnectionError',
      })
    })
  })

  test('a gateway that cannot be reached is a connection error', async () => {
    const name = await inPage(`
      const other = new sdk.Trunkline({ baseURL: 'http://127.0.0.1:9', maxRetries: 0 })
      return other.agents.list().catch((error) => error.name)`)
    expect(name).toBe('ConnectionError')
  })
})

/** Serves an empty page, and the files of a folder as scripts. */
async function servePage(folder: string): Promise<Server> {
  const server = createServer(async (request, response) => {
    const name = basename(request.url ?? '/')
    if (!name.endsWith('.js')) {
      response.setHeader('content-type', 'text/html').end('<!doctype html><title>A page</title>')
      return
    }
    response.setHeader('content-type', 'text/javascript').end(await readFile(join(folder, name)))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return server
}
