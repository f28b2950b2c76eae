import type { Page, Request } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HAS_BROWSER } from '../support/browser.ts'
import { joinConsole, type SharedConsole } from '../support/console-page.ts'

// A browser, because the search is used by the keyboard, on every page, and must keep a pasted key out of the address.

describe.runIf(HAS_BROWSER)('the search of every page of the console', () => {
  let console: SharedConsole
  let mei: { id: string; username: string; password: string }
  let leaked: { id: string; full_key: string }

  beforeAll(async () => {
    console = await joinConsole('sean')
    const { api, token } = console.system
    mei = await api.createUser(token, 'mei-who-searches', { role: 'premium' })
    leaked = await api.createKey(token, { name: 'Nightly summaries', owner_id: mei.id })
  })
  afterAll(() => console?.remove())

  const field = (page: Page) => page.getByRole('combobox', { name: 'Search everything' })
  const list = (page: Page) => page.getByRole('listbox')
  const option = (page: Page, name: string | RegExp) => list(page).getByRole('option', { name })
  const title = (page: Page, name: string) => page.getByRole('heading', { level: 1, name }).waitFor()
  const stored = (page: Page) =>
    page.evaluate(() => JSON.stringify([{ ...sessionStorage }, { ...localStorage }, history.state]))
  /** As the clipboard would: Chromium without a window has none. */
  const paste = (page: Page, text: string) =>
    field(page).evaluate((input, pasted) => {
      const clipboardData = new DataTransfer()
      clipboardData.setData('text/plain', pasted)
      const event = new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true })
      if (input.dispatchEvent(event)) document.execCommand('insertText', false, pasted)
    }, text)

  test('the shortcut and the keyboard lead to pages, agents, keys and users, and back where one was', async () => {
    const { page, problems } = await console.open('/calls')
    await title(page, 'Calls')
    const refresh = page.getByRole('button', { name: 'Refresh' })
    await refresh.focus()
    await page.keyboard.press('Control+k')
    await option(page, 'Users').waitFor()
    expect(await list(page).getByRole('option').count()).toBeGreaterThan(9)
    await page.keyboard.press('Escape')
    await page.getByRole('listbox').waitFor({ state: 'detached' })
    expect(await refresh.evaluate((button) => button === document.activeElement)).toBe(true)

    await page.keyboard.press('Control+k')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    expect(await list(page).getByRole('option', { selected: true }).textContent()).toBe('Usage')
    await page.keyboard.press('Enter')
    await title(page, 'Usage')

    // Without a look at the list.
    await field(page).fill('nightly')
    await field(page).press('Enter')
    await title(page, 'Nightly summaries')
    await field(page).fill('MEI-WHO')
    // The parts of a page may arrive when its reader already searches on, who keeps the focus then.
    const { promise: searchedOn, resolve: searchOn } = Promise.withResolvers<void>()
    await page.route('**/*.js', (route) => searchedOn.then(() => route.continue()))
    await page.getByRole('group', { name: 'Users' }).getByRole('option', { name: /mei/ }).click()
    await page.waitForURL(new RegExp(mei.id))
    await field(page).fill(leaked.id)
    searchOn()
    await title(page, 'mei-who-searches')
    await option(page, /^Nightly summaries/).waitFor()
    expect(await field(page).evaluate((input) => input === document.activeElement)).toBe(true)
    await field(page).fill('dify')
    await option(page, /^Dify/).waitFor()
    await field(page).press('Enter')
    await page.waitForURL(/agents\?id=dify/)
    expect(problems).toEqual([])
  })

  test('of a whole key that is pasted only the prefix leaves the field, and the key is revoked in three steps', async () => {
    const { page, problems } = await console.open('/account')
    const seen: string[] = []
    const note = (request: Request) =>
      seen.push(request.url(), request.postData() ?? '', JSON.stringify(request.headers()))
    page.on('request', note)
    page.on('console', (message) => seen.push(message.text()))
    page.on('framenavigated', (frame) => seen.push(frame.url()))
    await page.reload()
    await title(page, 'Account')
    const secret = leaked.full_key.slice(12, 40)
    await field(page).focus()
    await paste(page, `API_KEY="${leaked.full_key}"\n`)
    expect(await field(page).inputValue()).toBe(leaked.full_key.slice(0, 12))
    await option(page, /^Nightly summaries/).waitFor()
    expect(await list(page).getByRole('option').count()).toBe(1)
    await page.getByText('This looks like a whole API key').waitFor()
    await field(page).press('Enter')
    await title(page, 'Nightly summaries')
    await page.getByRole('button', { name: 'Revoke' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await page.getByText('Revoked on').waitFor()

    // Typed, in the search and in a list whose search is part of the address.
    await field(page).fill(leaked.full_key)
    await option(page, /^Nightly summaries/).waitFor()
    await field(page).press('Escape')
    await page.getByRole('link', { name: 'API keys' }).click()
    await title(page, 'API keys')
    await page.locator('main').getByRole('searchbox').fill(leaked.full_key)
    await page.waitForURL((url) => url.searchParams.get('search') === leaked.full_key.slice(0, 12))
    await field(page).fill('tl_0000000000')
    await page.getByText('No API key that you may see begins like this.').waitFor()
    expect(seen.length).toBeGreaterThan(10)
    expect(seen.filter((text) => text.includes(secret))).toEqual([])
    expect(await stored(page)).not.toContain(secret)
    expect(problems).toEqual([])
  })

  test('a key is cut to its prefix as well where it is wrapped, and wherever it is in an address', async () => {
    const { page, problems } = await console.open('/account')
    await title(page, 'Account')
    const seen: string[] = []
    page.on('request', (request) => seen.push(request.url(), request.postData() ?? ''))
    const { full_key: full } = leaked
    const [start, rest, prefix] = [full.slice(0, 8), full.slice(8), full.slice(0, 12)]
    await field(page).focus()
    await paste(page, `Bearer ${start}\n  ${rest}`)
    expect(await field(page).inputValue()).toBe(prefix)
    await option(page, /^Nightly summaries/).waitFor()
    await field(page).fill('etl_transformation_daily')
    await option(page, /etl_transformation_daily$/).waitFor()
    expect(seen.filter((text) => text.includes(rest))).toEqual([])

    for (const [path, heading] of [
      [`/keys/${full}`, 'Key'],
      [`/account?from=${full}#${full}`, 'Account'],
    ] as const) {
      await page.goto(`${console.system.gateway.url}/console${path}`)
      await title(page, heading)
      expect(page.url()).toBe(`${console.system.gateway.url}/console${path.replaceAll(full, prefix)}`)
    }
    // The browser asks for the page before anything of it runs.
    const asked = seen.filter((text) => text.includes(rest)).map((url) => new URL(url).pathname)
    expect(asked).toEqual([`/console/keys/${full}`, '/console/account'])
    expect(await stored(page)).not.toContain(rest)
    expect(problems).toEqual([])
  })

  test('on a phone the search covers the page, users find no others, and an id is found while keys cannot be searched', async () => {
    const { page } = await console.open('/account', mei, {
      locale: 'zh-CN',
      viewport: { width: 390, height: 800 },
    })
    await title(page, '账户')
    const search = page.getByRole('combobox', { name: '搜索全部内容' })
    await search.fill('admin')
    await page.getByRole('option', { name: '查找调用、请求或会话 admin' }).waitFor()
    await page.getByText('正在搜索').waitFor({ state: 'detached' })
    expect(await list(page).getByRole('option').count()).toBe(1)
    const box = await page.getByRole('listbox').boundingBox()
    expect(box?.width).toBeGreaterThan(350)

    await page.route('**/graphql', async (route) => {
      if (!route.request().postData()?.includes('query Matches')) return await route.continue()
      await route.abort()
    })
    await search.fill('ticket-42')
    await page.getByText('无法搜索密钥和用户').waitFor()
    await search.press('Enter')
    await title(page, '调用记录')
  })
})
