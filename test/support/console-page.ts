import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { sharedBrowser } from './browser.ts'
import { type GatewayWithSandbox, startGatewayWithSandbox } from './gateway-with-sandbox.ts'
import { untilServed } from './until-served.ts'

/** A gateway that serves the console, and pages of it. */
export interface ConsoleInBrowser {
  readonly system: GatewayWithSandbox
  /** Opens a page of a new visitor: nothing is stored. Problems that the page reports are collected in `problems`. */
  visit(path: string, options?: BrowserContextOptions): Promise<ConsolePage>
  remove(): Promise<void>
}

export interface ConsolePage {
  readonly page: Page
  /** What the browser has logged as errors: exceptions, and what the content security policy refused. */
  readonly problems: string[]
  /** Fills in the page of the login, by default as the administrator. */
  logIn(username?: string, password?: string): Promise<void>
  /** What axe finds on the page as it is, in light and in dark colours: the rule, the elements and what is wrong with each. */
  violations(): Promise<string[]>
}

type Settings = Parameters<typeof startGatewayWithSandbox>[0]

export async function startConsole(settings?: Settings): Promise<ConsoleInBrowser> {
  const started = await startGatewayWithSandbox(settings)
  const { api } = started
  const chat: typeof api.chat = (...call) => untilServed(() => api.chat(...call))
  const system = { ...started, api: { ...api, chat } }
  const browser = await sharedBrowser()
  const contexts: BrowserContext[] = []
  return {
    system,
    async visit(path, options) {
      const context = await browser.newContext({
        locale: 'en-US',
        colorScheme: 'light',
        reducedMotion: 'reduce',
        ...options,
      })
      contexts.push(context)
      const page = await context.newPage()
      const problems: string[] = []
      page.on('pageerror', (error) => problems.push(String(error)))
      page.on('console', (message) => {
        // Replies with an error status are logged as well; the page shows those to its reader.
        const isReply = message.text().startsWith('Failed to load resource')
        if (message.type() === 'error' && !isReply) problems.push(message.text())
      })
      await page.goto(`${system.gateway.url}/console${path}`)
      return {
        page,
        problems,
        async logIn(username = system.gateway.admin.username, password = system.gateway.admin.password) {
          await page.locator('input[autocomplete=username]').fill(username)
          await page.locator('input[autocomplete=current-password]').fill(password)
          await page.locator('button[type=submit]').click()
        },
        violations: () => violationsOn(page),
      }
    },
    async remove() {
      for (const context of contexts) await context.close()
      await system.remove()
    },
  }
}

async function violationsOn(page: Page): Promise<string[]> {
  const axe = await readFile(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8')
  await page.evaluate(axe)
  const found: string[] = []
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    // What is being read changes while axe looks at it.
    await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' })
    // The colours of the scheme are those of the next frame.
    await page.evaluate(
      () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))),
    )
    found.push(
      ...(await page.evaluate(async (scheme) => {
        const { axe: loaded } = globalThis as unknown as { axe: Axe }
        // Other rules look at nothing that dark colours change.
        const onlyColors = { runOnly: ['color-contrast', 'link-in-text-block'] }
        const { violations } = await loaded.run(scheme === 'light' ? {} : onlyColors)
        return violations.map(
          ({ id, nodes }) =>
            `${scheme}: ${id}: ${nodes.map(({ target, any }) => `${target.join(' ')} (${any[0]?.message ?? ''})`).join(', ')}`,
        )
      }, colorScheme)),
    )
  }
  return found
}

interface Axe {
  run(options: { runOnly?: string[] }): Promise<{
    violations: { id: string; nodes: { target: string[]; any: { message: string }[] }[] }[]
  }>
}
