import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { User } from '@trunkline/sdk'
import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { inject } from 'vitest'
import { apiOf } from './api.ts'
import { sharedBrowser } from './browser.ts'
import { ADMINISTRATOR } from './gateway-template.ts'
import { type GatewayWithSandbox, startGatewayWithSandbox } from './gateway-with-sandbox.ts'
import { untilServed } from './until-served.ts'

/** A gateway that serves the console, and pages of it. */
export interface ConsoleInBrowser<System extends ConsoleSystem = GatewayWithSandbox> {
  readonly system: System
  /** Opens a page of a new visitor: nothing is stored. Problems that the page reports are collected in `problems`. */
  visit(path: string, options?: BrowserContextOptions): Promise<ConsolePage>
  /**
   * Opens a page with the session of a user, by default of the administrator. If no option but the size is given, it is the same page
   * each time, whose browser has the scripts already: three times as fast as a new one with a login.
   */
  open(path: string, as?: Person, options?: PageOptions): Promise<ConsolePage>
  remove(): Promise<void>
}

/** A gateway that serves the console, of which others may be served as well. */
export type ConsoleSystem = Pick<GatewayWithSandbox, 'api' | 'token' | 'key'> & {
  readonly gateway: Pick<GatewayWithSandbox['gateway'], 'url' | 'pid' | 'admin'>
}
export type SharedConsole = ConsoleInBrowser<ConsoleSystem & { readonly adminId: string }>

type Size = { readonly width: number; readonly height: number }
type PageOptions = Omit<BrowserContextOptions, 'viewport'> & { readonly viewport?: Size }
type Person = GatewayWithSandbox['gateway']['admin']

export interface ConsolePage {
  readonly page: Page
  /** What the browser has logged as errors: exceptions, and what the content security policy refused. */
  readonly problems: string[]
  /** Fills in the page of the login, by default as the administrator. */
  logIn(username?: string, password?: string): Promise<void>
  /** What axe finds on the page as it is: the rule, the elements and what is wrong with each. */
  violations(): Promise<string[]>
}

type Settings = Parameters<typeof startGatewayWithSandbox>[0]

/** Starts a gateway of its own, for files that change its settings, its platforms or whether it runs, or count all it has. */
export async function startConsole(settings?: Settings): Promise<ConsoleInBrowser> {
  const system = await startGatewayWithSandbox(settings)
  return consoleOf(patient(system), () => system.remove())
}

/**
 * Uses the gateway that runs for all files, as an administrator that no other file has. Administrators see what other files do
 * as well.
 *
 * @param name Of the administrator; that of the file.
 */
export async function joinConsole(name: string): Promise<SharedConsole> {
  const { url, pid } = inject('sharedConsole')
  const first = apiOf({ url, admin: ADMINISTRATOR })
  const { id: adminId, ...admin } = await first.createUser(await first.login(), name, { role: 'admin' })
  const gateway = { url, pid, admin }
  const api = apiOf(gateway)
  const token = await api.login()
  const { full_key: key } = await api.createKey(token)
  return consoleOf(patient({ gateway, api, token, key, adminId }), async () => undefined)
}

/** On a busy machine, a call may have to be sent again. */
function patient<System extends ConsoleSystem>(system: System): System {
  const { api } = system
  const chat: typeof api.chat = (...call) => untilServed(() => api.chat(...call))
  return { ...system, api: { ...api, chat } }
}

async function consoleOf<System extends ConsoleSystem>(
  system: System,
  removeSystem: () => Promise<void>,
): Promise<ConsoleInBrowser<System>> {
  const { gateway, api } = system
  const browser = await sharedBrowser()
  const contexts: BrowserContext[] = []
  const opened = new Map<string, ConsolePage>()

  async function newPage(options: BrowserContextOptions = {}, session?: object): Promise<ConsolePage> {
    const context = await browser.newContext({
      locale: 'en-US',
      colorScheme: 'light',
      reducedMotion: 'reduce',
      ...options,
    })
    contexts.push(context)
    if (session !== undefined) await context.addInitScript(storeSession, JSON.stringify(session))
    const page = await context.newPage()
    const problems: string[] = []
    page.on('pageerror', (error) => problems.push(String(error)))
    page.on('console', (message) => {
      // Replies with an error status are logged as well; the page shows those to its reader.
      const isReply = message.text().startsWith('Failed to load resource')
      if (message.type() === 'error' && !isReply) problems.push(message.text())
    })
    return {
      page,
      problems,
      async logIn(username = gateway.admin.username, password = gateway.admin.password) {
        await page.locator('input[autocomplete=username]').fill(username)
        await page.locator('input[autocomplete=current-password]').fill(password)
        await page.locator('button[type=submit]').click()
      },
      violations: () => violationsOn(page),
    }
  }

  async function sessionOf({ username, password }: Person): Promise<object> {
    const { body } = await api.call('POST', '/api/v1/login', { body: { username, password } })
    const { access_token, expires_in, user } = body.data as {
      access_token: string
      expires_in: number
      user: User
    }
    const expiresAtMs = Date.now() + expires_in * 1_000
    const { id: userId, role } = user
    return {
      id: userId,
      accessToken: access_token,
      expiresAtMs,
      warnAtMs: expiresAtMs,
      userId,
      username,
      role,
    }
  }

  async function pageOf(person: Person, viewport: Size): Promise<ConsolePage> {
    const known = opened.get(person.username)
    if (known !== undefined && !known.page.isClosed()) {
      await known.page.unrouteAll({ behavior: 'ignoreErrors' })
      await known.page.setViewportSize(viewport)
      known.problems.length = 0
      return known
    }
    const made = await newPage({ viewport }, await sessionOf(person))
    opened.set(person.username, made)
    return made
  }

  return {
    system,
    async visit(path, options) {
      const visit = await newPage(options)
      await visit.page.goto(`${gateway.url}/console${path}`)
      return visit
    },
    async open(path, as = gateway.admin, { viewport = DESKTOP, ...options } = {}) {
      const isAlike = Object.keys(options).length === 0
      const visit = isAlike
        ? await pageOf(as, viewport)
        : await newPage({ ...options, viewport }, await sessionOf(as))
      await visit.page.goto(`${gateway.url}/console${path}`)
      return visit
    },
    async remove() {
      for (const context of contexts) await context.close()
      await removeSystem()
    },
  }
}

const DESKTOP: Size = { width: 1280, height: 720 }

/** Where the console looks for its session. One that the page has ended stays ended. */
function storeSession(session: string): void {
  // An empty page has no storage.
  if (!location.pathname.startsWith('/console')) return
  const mark = 'of-test'
  if (sessionStorage.getItem(mark) !== null) return
  sessionStorage.setItem(mark, '')
  sessionStorage.setItem('trunkline.session', session)
}

async function violationsOn(page: Page): Promise<string[]> {
  const axe = await readFile(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8')
  await page.evaluate(axe)
  // What is being read changes while axe looks at it.
  await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' })
  return await page.evaluate(async () => {
    const { axe: loaded } = globalThis as unknown as { axe: Axe }
    const { violations } = await loaded.run()
    return violations.map(
      ({ id, nodes }) =>
        `${id}: ${nodes.map(({ target, any }) => `${target.join(' ')} (${any[0]?.message ?? ''})`).join(', ')}`,
    )
  })
}

interface Axe {
  run(): Promise<{
    violations: { id: string; nodes: { target: string[]; any: { message: string }[] }[] }[]
  }>
}
