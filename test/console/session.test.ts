import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HAS_BROWSER } from '../support/browser.ts'
import { joinConsole, type SharedConsole } from '../support/console-page.ts'

// A browser, because tabs share a session, forms survive its end, and both are a matter of the storage of a browser.

describe.runIf(HAS_BROWSER)('logging in to the console', () => {
  let console: SharedConsole

  beforeAll(async () => {
    console = await joinConsole('sarah')
  })
  afterAll(() => console?.remove())

  const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name }).waitFor()
  const storedToken = (page: Page) =>
    page.evaluate(() => {
      const stored = sessionStorage.getItem('trunkline.session')
      return stored === null ? undefined : (JSON.parse(stored) as { accessToken: string }).accessToken
    })
  const statusOf = async (token: string | undefined) => {
    const response = await fetch(`${console.system.gateway.url}/api/v1/users/me`, {
      headers: { authorization: `Bearer ${token}` },
    })
    return response.status
  }

  test('says why it fails and keeps the username, then leads to the view that was asked for', async () => {
    const { page, logIn, problems } = await console.visit('/account?from=elsewhere')
    await page.getByText('Log in to see your keys, agents and usage.').waitFor()
    expect(await page.getByText('return to where you were').count()).toBe(0)
    await logIn(console.system.gateway.admin.username, 'a wrong password')
    await page.getByText('The username or the password is wrong.').waitFor()
    expect(await page.getByLabel('Username').inputValue()).toBe('sarah')
    expect(await page.getByLabel('Password', { exact: true }).inputValue()).toBe('')
    await logIn()
    await heading(page, 'Account')
    expect(page.url()).toContain('/console/account?from=elsewhere')
    expect(problems).toEqual([])
  })

  test('a reload keeps the session, another tab gets it, and logging out ends both and the token at the gateway', async () => {
    const { page, logIn } = await console.visit('/account')
    await logIn()
    await heading(page, 'Account')
    await page.reload()
    await heading(page, 'Account')
    const other = await page.context().newPage()
    await other.goto(page.url())
    await heading(other, 'Account')
    const token = await storedToken(page)
    expect([await statusOf(token), await storedToken(other)]).toEqual([200, token])
    // A tab with another user keeps it, whatever the others do.
    const { api, token: ofAdmin } = console.system
    const { username, password } = await api.createUser(ofAdmin, 'beside')
    const { access_token, expires_in, user } = (
      await api.call('POST', '/api/v1/login', { body: { username, password } })
    ).body.data
    await other.evaluate(
      ([accessToken, expiresAtMs, userId, name]) =>
        sessionStorage.setItem(
          'trunkline.session',
          JSON.stringify({
            ...{ id: 'beside', accessToken, expiresAtMs, warnAtMs: expiresAtMs, userId },
            ...{ username: name, role: 'user' },
          }),
        ),
      [access_token, Date.now() + expires_in * 1_000, user.id, username] as const,
    )
    await other.reload()
    await other.getByRole('main').getByText('beside', { exact: true }).waitFor()
    const third = await page.context().newPage()
    await third.goto(page.url())
    await heading(third, 'Account')

    const shared = (await storedToken(third)) === token ? third : other
    await page.getByRole('button', { name: 'Log out' }).click()
    await page.getByLabel('Username').waitFor()
    expect([await statusOf(token), await storedToken(page)]).toEqual([401, undefined])
    // After a logout there is no page to return to.
    expect(await page.getByText('return to where you were').count()).toBe(0)
    expect(new URL(page.url()).search).toBe('')
    if (shared === third) await third.getByText('You logged out in another tab.').waitFor()
    expect(await storedToken(other)).toBe(access_token)
  })

  test('a token that the gateway no longer accepts leads to the login and back to the same view', async () => {
    const { page, logIn } = await console.open('/account')
    await heading(page, 'Account')
    const token = await storedToken(page)
    await fetch(`${console.system.gateway.url}/api/v1/logout`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
    })
    await page.reload()
    await page.getByText('Your session was ended').waitFor()
    await page.getByText('Log in to return to where you were.').waitFor()
    await logIn()
    await heading(page, 'Account')
  })

  test('asks for the password before the session ends, over whatever is open, and nothing is lost', async () => {
    const { page, logIn, problems } = await console.visit('/users')
    await page.clock.install()
    await logIn()
    await heading(page, 'Users')
    const other = await page.context().newPage()
    await other.goto(`${console.system.gateway.url}/console/account`)
    await heading(other, 'Account')
    await page.getByRole('button', { name: 'Create user' }).click()
    const form = page.getByRole('dialog', { name: 'Create user' })
    await form.getByLabel('Username').fill('half-typed')
    const before = await storedToken(page)

    await page.clock.fastForward('55:01')
    const stay = page.getByRole('dialog', { name: 'Stay logged in' })
    await stay.getByText(/^Your session ends in 4:\d\d\. Enter the password of sarah/).waitFor()
    // The form below does not close with it.
    await page.keyboard.press('Escape')
    await stay.waitFor({ state: 'detached' })
    await form.waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog', { name: 'Discard what you have typed?' }).waitFor()
    await page.getByRole('button', { name: 'Go on editing' }).click()
    expect(await form.getByLabel('Username').inputValue()).toBe('half-typed')
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Discard', exact: true }).click()
    await form.waitFor({ state: 'detached' })

    await page.getByRole('button', { name: 'Enter the password' }).click()
    await stay.getByLabel('Password').fill('a wrong password')
    await stay.getByRole('button', { name: 'Stay logged in' }).click()
    await stay.getByText('The username or the password is wrong.').waitFor()
    await stay.getByLabel('Password').fill(console.system.gateway.admin.password)
    await stay.getByRole('button', { name: 'Stay logged in' }).click()
    await stay.waitFor({ state: 'detached' })
    expect(await page.getByText('Your session ends in').count()).toBe(0)
    const renewed = await storedToken(page)
    expect(renewed).not.toBe(before)
    await expect.poll(() => storedToken(other)).toBe(renewed)

    // Nothing was typed, so there is no question.
    await page.getByRole('button', { name: 'Create user' }).click()
    await form.waitFor()
    await page.keyboard.press('Escape')
    await form.waitFor({ state: 'detached' })
    await page.clock.fastForward('01:00:01')
    await page.getByText('Your session has ended, because its time was over.').waitFor()
    expect(problems).toEqual([])
  })

  test('the focus follows to the heading of a page that is opened', async () => {
    const { page } = await console.open('/keys')
    await heading(page, 'API keys')
    // The link that was pressed has the same text, and the focus for a moment.
    const focused = () => page.locator('h1:focus').allTextContents()
    await page.getByRole('navigation').getByRole('link', { name: 'Processes' }).click()
    await expect.poll(focused).toEqual(['Processes'])
    await page.goBack()
    await expect.poll(focused).toEqual(['API keys'])
    const key = page.getByRole('table').getByRole('link').first()
    const name = await key.textContent()
    await key.click()
    await expect.poll(focused).toEqual([name])
    await page.setViewportSize({ width: 390, height: 800 })
    await page.getByRole('button', { name: 'Menu' }).click()
    await page.getByRole('dialog').getByRole('link', { name: 'Agents' }).click()
    await expect.poll(focused).toEqual(['Agents'])
    expect(await page.title()).toBe('Agents · Trunkline')
  })

  test('what was typed is there again after the session has ended, but for passwords', async () => {
    const { page, logIn } = await console.open('/users')
    await page.getByRole('button', { name: 'Create user' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Username').fill('typed-with-care')
    await dialog.getByRole('button', { name: 'Generate a password' }).click()
    const token = await storedToken(page)
    await fetch(`${console.system.gateway.url}/api/v1/logout`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
    })
    await dialog.getByRole('button', { name: 'Create user' }).click()
    await page.getByText('Log in to return to where you were.').waitFor()
    await logIn()
    await heading(page, 'Users')
    await page.getByRole('button', { name: 'Create user' }).click()
    await expect.poll(() => dialog.getByLabel('Username').inputValue()).toBe('typed-with-care')
    expect(await dialog.getByLabel('Password', { exact: true }).inputValue()).toBe('')

    await page.goto(`${console.system.gateway.url}/console/keys?new=true`)
    await page.getByLabel('Name', { exact: true }).fill('key with a long name')
    // What the page reads beside the form would lead to the login as well.
    await page.waitForLoadState('networkidle')
    await fetch(`${console.system.gateway.url}/api/v1/logout`, {
      method: 'POST',
      headers: { authorization: `Bearer ${await storedToken(page)}` },
    })
    await page.getByRole('button', { name: 'Create key' }).click()
    await page.getByText('Log in to return to where you were.').waitFor()
    await logIn()
    await expect
      .poll(() => page.getByLabel('Name', { exact: true }).inputValue())
      .toBe('key with a long name')
  })

  test('changing the own password checks the form, ends the session and takes the new password', async () => {
    const { api, token } = console.system
    await api.createUser(token, 'alice', { password: 'first password', role: 'user' })
    const { page, logIn } = await console.visit('/account')
    await logIn('alice', 'first password')
    await page.getByLabel('Current password').fill('not the password')
    await page.getByLabel('New password', { exact: true }).fill('short')
    await page.getByRole('button', { name: 'Change password' }).click()
    await page.getByText('At least 8 characters.', { exact: true }).waitFor()
    await page.getByLabel('New password', { exact: true }).fill('second password')
    await page.getByLabel('New password, again').fill('another password')
    await page.getByRole('button', { name: 'Change password' }).click()
    await page.getByText('The two new passwords differ.').waitFor()
    await page.getByLabel('New password, again').fill('second password')
    await page.getByRole('button', { name: 'Change password' }).click()
    await page.getByText('is not the current password.').waitFor()
    expect(await page.getByLabel('Current password').inputValue()).toBe('not the password')
    await page.getByLabel('Current password').fill('first password')
    await page.getByRole('button', { name: 'Change password' }).click()
    await page.getByText('Your password was changed.').waitFor()
    await logIn('alice', 'second password')
    await heading(page, 'Account')
    const { body } = await api.call('GET', '/api/v1/users?search=alice', { token })
    const path = `/api/v1/users/${body.data.items[0].id}`
    await api.call('PATCH', path, { token, body: { status: 'suspended' } })
    await page.reload()
    await page.getByText('because your user is suspended').waitFor()
  })

  test('speaks Chinese to a browser that does, and another language and dark colours when they are chosen', async () => {
    const { page } = await console.open('/account', undefined, { locale: 'zh-CN' })
    await heading(page, '账户')
    await page.getByRole('button', { name: '语言' }).click()
    await page.getByRole('menuitemradio', { name: 'English' }).click()
    await heading(page, 'Account')
    const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor)
    const light = await background()
    await page.getByRole('button', { name: 'Colours' }).click()
    await page.getByRole('menuitemradio', { name: 'Dark' }).click()
    await page.waitForFunction((before) => getComputedStyle(document.body).backgroundColor !== before, light)
    const dark = await background()
    await page.reload()
    await heading(page, 'Account')
    expect(await background()).toBe(dark)
  })

  test('a part of the console that cannot be loaded says so, and comes when the gateway answers again', async () => {
    const { page, logIn } = await console.visit('/agents', { locale: 'zh-CN' })
    await page.route(/assets\/usage-page/, (route) => route.abort())
    await logIn()
    await heading(page, '智能体')
    await page.getByRole('navigation').getByRole('link', { name: '用量' }).click()
    const alert = page.getByRole('alert')
    await alert.getByText('控制台的这一部分无法加载。').waitFor()
    expect(await page.getByRole('navigation').first().isVisible()).toBe(true)
    await page.unroute(/assets\/usage-page/)
    await alert.getByRole('button', { name: '重试' }).click()
    await heading(page, '用量')
  })

  test('pages that were not opened yet open without a network, and say what they lack', async () => {
    const { page, logIn } = await console.visit('/account', { viewport: { width: 390, height: 800 } })
    const parts = [/assets\/keys-page/, /assets\/drawer/].map((name) => page.waitForResponse(name))
    await logIn()
    await Promise.all(parts)
    await heading(page, 'Account')
    await page.waitForLoadState('networkidle')
    await page.context().setOffline(true)
    await page.getByRole('button', { name: 'Menu' }).click()
    await page.getByRole('dialog').getByRole('link', { name: 'API keys' }).click()
    await heading(page, 'API keys')
    await page.getByText('This device is offline.').first().waitFor()
  })

  test('what an address says wrongly is left out', async () => {
    const { api, token } = console.system
    const { username, password } = await api.createUser(token, 'without-calls')
    const { page, logIn, problems } = await console.visit('/login?next=%2F%2Fexample.com')
    await logIn(username, password)
    await heading(page, 'Overview')
    for (const [path, name] of [
      ['/usage?from=abc&to=def', 'Usage'],
      ['/calls?range=bogus&from=never', 'Calls'],
    ] as const) {
      await page.goto(`${console.system.gateway.url}/console${path}`)
      await heading(page, name)
      await page.getByText(/No calls/).waitFor()
    }
    expect(problems).toEqual([])
  })

  test('without an answer of the gateway a login keeps the password, and a logout says what is left', async () => {
    const { page, logIn } = await console.visit('/account')
    await page.route('**/api/v1/login', (route) => route.abort())
    await logIn(console.system.gateway.admin.username, 'typed with care')
    await page.getByRole('alert').waitFor()
    expect(await page.getByLabel('Password', { exact: true }).inputValue()).toBe('typed with care')
    await page.unroute('**/api/v1/login')
    await logIn()
    await heading(page, 'Account')
    await page.route('**/api/v1/logout', (route) => route.abort())
    await page.getByRole('button', { name: 'Log out' }).click()
    await page.getByLabel('Username').waitFor()
    await page.getByText('You are logged out here.').waitFor()
  })

  test('a device without a network and a gateway that does not answer are told apart', async () => {
    const { page } = await console.open('/account')
    await heading(page, 'Account')
    await page.getByLabel('Current password').fill('a password')
    await page.getByLabel('New password', { exact: true }).fill('another password')
    await page.getByLabel('New password, again').fill('another password')
    await page.context().setOffline(true)
    await page.getByRole('button', { name: 'Change password' }).click()
    await page.getByText('This device is offline.').waitFor()
    await page.context().setOffline(false)
    await page.route('**/api/**', (route) => route.abort('connectionrefused'))
    await page.getByRole('button', { name: 'Change password' }).click()
    await page.getByText('The gateway does not answer. It may be restarting.').waitFor()
    await page.unroute('**/api/**')
    await page.route('**/api/**', (route) =>
      route.fulfill({
        status: 503,
        json: { code: 503, msg: 'The gateway is shutting down.', reason: 'draining', retryable: true },
      }),
    )
    await page.getByRole('button', { name: 'Change password' }).click()
    await page.getByText('The gateway is shutting down or restarting.').waitFor()
    expect(await page.getByLabel('Current password').inputValue()).toBe('a password')
  })
})
