import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { messages as en } from '../../apps/console/messages/en.ts'
import { messages as zh } from '../../apps/console/messages/zh.ts'
import { HAS_BROWSER } from '../support/browser.ts'
import { type ConsoleInBrowser, startConsole } from '../support/console-page.ts'
import { until } from '../support/until.ts'

// A browser, because axe judges the computed colours, names and roles of a rendered page.

const LANGUAGES = [
  ['en-US', en],
  ['zh-CN', zh],
] as const

const PHONE = { width: 390, height: 800 }

describe.runIf(HAS_BROWSER)('axe finds nothing in light and dark colours', () => {
  let console: ConsoleInBrowser
  let call: string
  let conversation: string
  let key: string
  let user: string

  beforeAll(async () => {
    console = await startConsole()
    const { api, token, key: fullKey } = console.system
    for (const query of ['Hello', 'sandbox:error=rate-limit Hello']) {
      await (await api.chat(fullKey, 'dify', { query })).text()
    }
    const idOf = (list: string) =>
      until<string>(`the gateway lists its ${list}`, async () => {
        const { body } = await api.call('GET', `/api/v1/${list}?limit=1`, { token })
        return body.data.items[0]?.id
      })
    call = `/calls/${await idOf('calls')}`
    conversation = `/conversations/${await idOf('conversations')}`
    key = `/keys/${await idOf('api-keys')}`
    user = `/users/${await idOf('users')}`
  })
  afterAll(() => console?.remove())

  async function open(page: Page, path: string): Promise<void> {
    await page.goto(`${console.system.gateway.url}/console${path}`)
    await page.getByRole('heading', { level: 1 }).waitFor()
  }
  /** Shows the processes of deployments. */
  async function openProcesses(page: Page): Promise<void> {
    const summaries = page.locator('summary')
    await summaries.first().click()
    await page.getByRole('table').nth(1).waitFor()
  }
  const expectNothing = (found: Readonly<Record<string, string[]>>) =>
    expect(Object.entries(found).filter(([, list]) => list.length > 0)).toEqual([])

  /** Opens each of the pages after a login. */
  async function expectNothingOn(locale: string, paths: readonly string[]): Promise<void> {
    const { page, logIn, violations, problems } = await console.visit('/', { locale })
    await page.locator('input[autocomplete=username]').waitFor()
    const found: Record<string, string[]> = { login: await violations() }
    await logIn()
    await page.getByRole('navigation').first().waitFor()
    for (const path of paths) {
      await open(page, path)
      if (path.startsWith('/agents')) await openProcesses(page)
      found[path] = await violations()
      // On a phone, the rows of tables become lines of text.
      const size = page.viewportSize()
      await page.setViewportSize(PHONE)
      found[`${path} on a phone`] = await violations()
      if (size !== null) await page.setViewportSize(size)
    }
    expectNothing(found)
    expect(problems).toEqual([])
  }

  test.each(LANGUAGES)('on any page of what was used in %s', (locale) =>
    expectNothingOn(locale, [
      ...['/', '/usage?range=7d&group=agent', '/usage?range=this_week&compare=true&table=time'],
      ...['/calls', call, '/conversations', conversation],
    ]),
  )

  test.each(LANGUAGES)('on any page of keys and users in %s', (locale) =>
    expectNothingOn(locale, ['/keys', '/keys/new', key, '/users', user, '/account']),
  )

  test.each(LANGUAGES)('on any page of agents in %s', (locale) =>
    expectNothingOn(locale, ['/agents?id=dify', '/playground/dify', '/nowhere']),
  )

  test.each(LANGUAGES)('on any page of what is on record in %s', (locale) =>
    expectNothingOn(locale, [
      ...['/refusals', '/refusals?show=counts', '/refusals/unknown'],
      ...['/processes', '/audit', '/audit/1'],
    ]),
  )

  test.each(LANGUAGES)('in any dialog in %s', async (locale, { common, keys, playground, users }) => {
    const { page, logIn, violations, problems } = await console.visit('/', { locale })
    await logIn()
    await page.getByRole('navigation').first().waitFor()
    const ofAdmin = (label: string) => label.replace('{username}', 'admin')
    const dialogs = {
      [key]: [keys.key.change, keys.key.revoke, `${keys.key.reset}: ${keys.total}`],
      '/users': [users.create, ...[users.editUser, users.setPasswordOf, users.suspendUser].map(ofAdmin)],
      '/playground/dify': [playground.copyAs],
    }
    const found: Record<string, string[]> = {}
    const see = async (button: string) => {
      await page.getByRole('button', { name: button, exact: true }).first().click()
      const dialog = page.locator('[role=dialog], [role=alertdialog]')
      await dialog.waitFor()
      found[button] = await violations()
      await page.keyboard.press('Escape')
      await dialog.waitFor({ state: 'detached' })
    }
    for (const [path, buttons] of Object.entries(dialogs)) {
      await open(page, path)
      if (path === '/playground/dify') {
        await page.getByRole('textbox', { name: playground.message, exact: true }).fill('Hello')
        await page.keyboard.press('Enter')
        await page.getByText(playground.total).waitFor()
      }
      for (const button of buttons) await see(button)
    }
    await page.setViewportSize(PHONE)
    await see(common.menu)
    expectNothing(found)
    expect(problems).toEqual([])
  })
})
