import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HAS_BROWSER } from '../support/browser.ts'
import { type ConsoleInBrowser, startConsole } from '../support/console-page.ts'
import { freePort } from '../support/free-port.ts'

// A browser, because the page must notice by itself that its gateway drains, dies and returns.
// A gateway of its own, because it is stopped and killed.
// It takes up to two minutes, because pages notice a return by themselves, after pauses that grow.

/** A process needs a while to start. */
const AGAIN = { timeout: 120_000 }
/** Other pages of the same user, beside the first. */
const BESIDE = { locale: 'en-US' }
const LONG = 'sandbox:slow=20 sandbox:long=100000 Hello'

describe.runIf(HAS_BROWSER)('the console and what its gateway refuses', { timeout: 300_000 }, () => {
  let console: ConsoleInBrowser

  beforeAll(async () => {
    // A gateway that starts again is found at the same address.
    const env = { PORT: String(await freePort()) }
    console = await startConsole({ settings: { drain: { timeoutMs: 2_000 } }, env })
  })
  afterAll(() => console?.remove())

  const reply = (page: Page, number: number) => page.getByRole('article').nth(number)
  const ask = async (page: Page, text: string, name = 'Message') => {
    await page.getByRole('textbox', { name, exact: true }).fill(text)
    await page.keyboard.press('Enter')
  }

  /** Opens the overview of a gateway that has counted a call, with live usage. */
  async function openOverview() {
    const { api, key } = console.system
    await (await api.chat(key, 'dify')).text()
    const visit = await console.open('/', undefined, BESIDE)
    await visit.page.clock.install()
    await live(visit.page).waitFor()
    return visit
  }
  const live = (page: Page) => page.getByText('Live', { exact: true })
  const interrupted = (page: Page) => page.getByText('Live numbers are interrupted.')
  /** Live usage is opened again by itself, by and by after longer times. */
  const hasReturned = async (page: Page) => {
    await page.clock.fastForward('02:00')
    await live(page).waitFor(AGAIN)
    await interrupted(page).waitFor({ state: 'detached', ...AGAIN })
  }

  test('a reply that fails midway says why in the language of the reader, and the message stays', async () => {
    const { page, problems } = await console.open('/agents/dify', undefined, { locale: 'zh-CN' })
    await ask(page, 'sandbox:error-midstream Hello', '消息')
    const alert = reply(page, 0).getByRole('alert')
    await alert.getByText('智能体平台出错。').waitFor()
    await alert.getByText('agent_error', { exact: true }).waitFor()
    expect(await alert.getByText('The agent platform failed').count()).toBe(0)
    await reply(page, 0)
      .getByText(/^请求 ID/)
      .first()
      .waitFor()
    await reply(page, 0).getByText('sandbox:error-midstream Hello').waitFor()
    expect(problems).toEqual([])
  })

  test('a quota that is used up is told with its reason, and what was typed can be sent again', async () => {
    const { api, token } = console.system
    const user = await api.createUser(token, 'frank', { role: 'premium', max_api_calls: 1 })
    const { page } = await console.open('/agents/dify', user)
    await ask(page, 'Hello')
    await reply(page, 0).getByText('Total time').waitFor()
    await ask(page, 'Once more')
    const alert = reply(page, 1).getByRole('alert')
    await alert.getByText('The call quota of this user is used up.').waitFor()
    await alert.getByText('quota_exceeded', { exact: true }).waitFor()
    await alert.getByRole('button', { name: 'Try again' }).waitFor()
    await reply(page, 1).getByText('Once more', { exact: true }).waitFor()
  })

  test('the last administrator stays one, and the form says so where the role is', async () => {
    const { page } = await console.open('/users')
    await page.getByRole('button', { name: 'Change admin' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Role').selectOption('user')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.getByText('There must be at least one active administrator.').waitFor()
    expect(await dialog.getByLabel('Role').getAttribute('aria-invalid')).toBe('true')
    expect(await dialog.getByRole('alert').count()).toBe(0)
  })

  test('a gateway that drains ends a reply with words, and its return is noticed', async () => {
    const { gateway } = console.system
    const { page } = await openOverview()
    const chat = await console.open('/agents/dify', undefined, BESIDE)
    await ask(chat.page, LONG)
    await reply(chat.page, 0).getByText('20 网关').waitFor()

    const stopped = gateway.stop()
    await gateway.prints(/"msg":"draining"/)
    await reply(chat.page, 0)
      .getByRole('alert')
      .getByText(/restarting/)
      .waitFor(AGAIN)
    expect(await stopped).toBe(0)
    await interrupted(page).waitFor(AGAIN)
    await ask(chat.page, 'Is anybody there?')
    await reply(chat.page, 1)
      .getByRole('alert')
      .getByText(/restarting/)
      .waitFor(AGAIN)

    await gateway.start()
    await reply(chat.page, 1).getByRole('button', { name: 'Try again' }).click()
    await reply(chat.page, 1).getByText('Total time').waitFor(AGAIN)
    await reply(chat.page, 1).getByText('Is anybody there?', { exact: true }).waitFor()
    expect(await reply(chat.page, 1).getByRole('alert').count()).toBe(0)
    await hasReturned(page)
  })

  test('a gateway that is killed is told from a reply that ended, live usage goes on after its return, and pages that could not be read come back by themselves and keep what they had', async () => {
    const { gateway } = console.system
    const { page, problems } = await openOverview()
    const chat = await console.open('/agents/dify', undefined, BESIDE)
    await ask(chat.page, LONG)
    await reply(chat.page, 0).getByText('20 网关').waitFor()
    await chat.page.getByRole('textbox', { name: 'Message', exact: true }).fill('typed meanwhile')
    const keys = await console.open('/keys', undefined, BESIDE)
    const key = keys.page.getByRole('table').getByRole('link').first()
    await key.waitFor()
    const agents = await console.open('/agents', undefined, BESIDE)
    const row = agents.page.getByRole('row', { name: /^Dify/ })
    await row.waitFor()

    await gateway.kill()
    await key.click()
    const away = [keys, agents].map((one) => one.page.getByText('This page comes back by itself').first())
    await Promise.all(away.map((text) => text.waitFor(AGAIN)))
    expect(await row.isVisible()).toBe(true)
    await reply(chat.page, 0)
      .getByRole('alert')
      .getByText(/restarting/)
      .waitFor(AGAIN)
    await reply(chat.page, 0).getByText('20 网关').waitFor()
    expect(await chat.page.getByRole('textbox', { name: 'Message', exact: true }).inputValue()).toBe(
      'typed meanwhile',
    )
    await interrupted(page).waitFor(AGAIN)
    await gateway.start()
    await Promise.all(away.map((text) => text.waitFor({ state: 'detached', ...AGAIN })))
    await keys.page.getByRole('button', { name: 'Revoke' }).waitFor()
    await hasReturned(page)
    expect(problems).toEqual([])
  })
})
