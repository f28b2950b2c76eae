import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { messages } from '../../apps/console/messages/en.ts'
import { HAS_BROWSER } from '../support/browser.ts'
import { joinConsole, type SharedConsole } from '../support/console-page.ts'
import { until } from '../support/until.ts'

// A browser, because axe judges the computed colours, names and roles of a rendered page.

const PHONE = { width: 390, height: 800 }

// `apps/console/src/ui/contrast.test.ts` has the colours of both themes, and `messages.test.ts` the words of both languages.
describe.runIf(HAS_BROWSER)('axe finds nothing to mend', () => {
  let console: SharedConsole
  let call: string
  let conversation: string
  let key: string
  let user: string

  beforeAll(async () => {
    console = await joinConsole('axel')
    const { api, token, key: fullKey } = console.system
    for (const query of ['Hello', 'sandbox:error=rate-limit Hello']) {
      await (await api.chat(fullKey, 'dify', { query })).text()
    }
    const idOf = (list: string) =>
      until<string>(`the gateway lists its ${list}`, async () => {
        // Other files have theirs on the same gateway.
        const path = `/api/v1/${list}?limit=1&owner_id=${console.system.adminId}`
        const { body } = await api.call('GET', path, { token })
        return body.data.items[0]?.id
      })
    call = `/calls/${await idOf('calls')}`
    conversation = `/conversations/${await idOf('conversations')}`
    key = `/keys/${await idOf('api-keys')}`
    user = `/users/${console.system.adminId}`
  })
  afterAll(() => console?.remove())

  const read = (page: Page) => page.getByRole('heading', { level: 1 }).waitFor()
  /** Shows the processes of deployments. */
  async function openProcesses(page: Page): Promise<void> {
    await page.locator('summary').first().click()
    await page.getByRole('table').nth(1).waitFor()
  }
  const expectNothing = (found: Readonly<Record<string, string[]>>) =>
    expect(Object.entries(found).filter(([, list]) => list.length > 0)).toEqual([])

  test('on the page of the login, in Chinese as well', async () => {
    const found: Record<string, string[]> = {}
    for (const locale of ['en-US', 'zh-CN']) {
      const { page, violations } = await console.visit('/', { locale })
      await page.locator('input[autocomplete=username]').waitFor()
      found[locale] = await violations()
    }
    expectNothing(found)
  })

  test.each([
    ['what was used', ['/', '/usage?range=7d&group=agent', '/calls', 'a call']],
    [
      'reports and conversations',
      ['/usage?range=this_week&compare=true&table=time', '/conversations', 'a conversation'],
    ],
    ['keys and users', ['/keys', '/keys/new', 'a key', '/users', 'a user', '/account']],
    ['agents', ['/agents?id=dify', '/playground/dify', '/nowhere']],
    [
      'what is on record',
      ['/refusals', '/refusals?show=counts', '/refusals/unknown', '/processes', '/audit', '/audit/1'],
    ],
  ])('on any page of %s, wide or on a phone', async (_, paths) => {
    const ids: Record<string, string> = {
      'a call': call,
      'a conversation': conversation,
      'a key': key,
      'a user': user,
    }
    const found: Record<string, string[]> = {}
    for (const path of paths) {
      const { page, violations, problems } = await console.open(ids[path] ?? path)
      await read(page)
      if (path.startsWith('/agents')) await openProcesses(page)
      found[path] = await violations()
      // On a phone, the rows of tables become lines of text.
      await page.setViewportSize(PHONE)
      found[`${path} on a phone`] = await violations()
      expect(problems).toEqual([])
    }
    expectNothing(found)
  })

  test('in any dialog, and in what a form says of its mistakes', async () => {
    const { common, keys, playground, users } = messages
    const ofAdmin = (label: string) => label.replace('{username}', 'axel')
    const dialogs = {
      [key]: [keys.key.change, keys.key.revoke, `${keys.key.reset}: ${keys.total}`],
      '/users?search=axel': [
        users.create,
        ...[users.editUser, users.setPasswordOf, users.suspendUser].map(ofAdmin),
      ],
      '/playground/dify': [playground.copyAs],
    }
    const found: Record<string, string[]> = {}
    const { page, violations, problems } = await console.open('/keys?new=true')
    await page.getByRole('button', { name: 'Create key' }).click()
    await page.getByText('Fill this in.').first().waitFor()
    found.mistakes = await violations()
    const see = async (button: string) => {
      await page.getByRole('button', { name: button, exact: true }).first().click()
      const dialog = page.locator('[role=dialog], [role=alertdialog]')
      await dialog.waitFor()
      found[button] = await violations()
      await page.keyboard.press('Escape')
      await dialog.waitFor({ state: 'detached' })
    }
    for (const [path, buttons] of Object.entries(dialogs)) {
      await page.goto(`${console.system.gateway.url}/console${path}`)
      await read(page)
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
