import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HAS_BROWSER } from '../support/browser.ts'
import { type ConsoleInBrowser, startConsole } from '../support/console-page.ts'

// A browser, because what is in the window at a width, and what a browser remembers, cannot be known without a layout.
// A gateway of its own, because all of the rows of its lists are counted.

const DAY_MS = 86_400_000

describe.runIf(HAS_BROWSER)('the tables of the console', () => {
  let console: ConsoleInBrowser

  beforeAll(async () => {
    console = await startConsole()
    const { api, token } = console.system
    const expiring = { anna: 3.5, bert: 400, 'carla-of-the-night-shift-in-the-north': 20 }
    for (const [name, days] of Object.entries(expiring)) {
      const owner = await api.createUser(token, name, {
        role: 'premium',
        max_api_calls: name === 'bert' ? 2 : 100,
      })
      const expires_at = new Date(Date.now() + days * DAY_MS).toISOString()
      const { full_key } = await api.createKey(token, {
        name: `key of ${name}`,
        owner_id: owner.id,
        expires_at,
      })
      for (let call = 0; call < (name === 'bert' ? 2 : 1); call += 1)
        await (await api.chat(full_key, 'dify')).text()
      if (name === 'anna')
        await (await api.chat(full_key, 'dify', { query: 'sandbox:error=quota Hi' })).text()
    }
  })
  afterAll(() => console?.remove())

  const rows = (page: Page) =>
    page.getByRole('row').filter({ has: page.getByRole('rowheader').getByRole('link') })
  const head = (page: Page, name: string) => page.getByRole('columnheader', { name, exact: true })
  const searchOf = (page: Page) => Object.fromEntries(new URL(page.url()).searchParams)
  const names = (page: Page) => rows(page).getByRole('rowheader').getByRole('link').allTextContents()

  const rightOf = async (element: Locator) => {
    const box = await element.boundingBox()
    return (box?.x ?? 0) + (box?.width ?? 0)
  }

  /** Waits for the rows of another list, while those of the one before stay in sight. */
  async function waitForNames(page: Page, expected: readonly string[]): Promise<void> {
    await expect.poll(() => names(page)).toEqual(expected)
  }

  test('users are ordered and selected by the server, as the address says', async () => {
    const { page, problems } = await console.open('/users')
    await head(page, 'Calls').getByRole('button').click()
    await page.waitForURL(/order=-quota_used/)
    await expect.poll(async () => (await names(page))[0]).toBe('bert')
    expect(await head(page, 'Calls').getAttribute('aria-sort')).toBe('descending')
    await rows(page).first().getByText('used up').waitFor()
    await head(page, 'Username').getByRole('button').click()
    await waitForNames(page, ['admin', 'anna', 'bert', 'carla-of-the-night-shift-in-the-north'])
    await head(page, 'Username').getByRole('button').press('Enter')
    await waitForNames(page, ['carla-of-the-night-shift-in-the-north', 'bert', 'anna', 'admin'])
    expect(await head(page, 'Calls').getAttribute('aria-sort')).toBeNull()
    await page.getByLabel('Quota used').selectOption({ label: 'Used up' })
    await waitForNames(page, ['bert'])
    await page.getByText('1 user', { exact: true }).waitFor()
    await page.getByLabel('Role').selectOption({ label: 'Administrator' })
    await page.getByText('No users').waitFor()
    await page.goBack()
    await page.goForward()
    await page.goto(page.url().replace('role=ADMIN', ''))
    await waitForNames(page, ['bert'])
    expect(searchOf(page)).toMatchObject({ order: '-username', quota: '100' })
    expect(problems).toEqual([])
  })

  test('keys that expire soon are marked and listed, and the whole row leads to the key', async () => {
    const { page } = await console.open('/keys')
    await head(page, 'Expires').getByRole('button').click()
    await expect
      .poll(async () => (await names(page)).slice(0, 2))
      .toEqual(['key of anna', 'key of carla-of-the-night-shift-in-the-north'])
    expect(await page.getByText(/^expires in/).allTextContents()).toEqual([
      'expires in 3 days',
      'expires in 19 days',
    ])
    await page.getByLabel('Expires', { exact: true }).selectOption({ label: 'Within 7 days' })
    await waitForNames(page, ['key of anna'])
    const cell = rows(page).getByRole('cell', { name: 'Active' })
    const opened = page.context().waitForEvent('page')
    await cell.click({ modifiers: ['ControlOrMeta'] })
    expect((await opened).url()).toMatch(/\/keys\/[0-9a-f-]{36}$/)
    expect(searchOf(page)).toMatchObject({ order: 'expires_at', expiring: '7d' })
    await cell.click()
    await page.getByRole('heading', { level: 1, name: 'key of anna' }).waitFor()
    await page.getByText('expires in 3 days').waitFor()
    await page.goBack()
    await waitForNames(page, ['key of anna'])
    // For a screen reader and the keyboard there is one link in a row.
    expect(await rows(page).getByRole('link').count()).toBe(1)
  })

  /** By how much the table of a list is wider than its frame. */
  const hidden = (page: Page) =>
    page.getByRole('table').evaluate(({ parentElement: frame }) => {
      return frame === null ? Number.NaN : frame.scrollWidth - frame.clientWidth
    })

  test('every list fits a window of 1440 pixels, and has times as the browser is set to', async () => {
    const { page } = await console.open('/calls', undefined, {
      viewport: { width: 1440, height: 900 },
      locale: 'en-GB',
      timezoneId: 'Asia/Shanghai',
    })
    const day = page.getByRole('rowheader', { name: /^\w+day, \d+ \w+ \d{4} GMT\+8$/ })
    await day.first().waitFor()
    expect((await names(page))[0]).toMatch(/^\d\d:\d\d:\d\d$/)
    expect(await rows(page).first().locator('time').getAttribute('title')).toMatch(
      /^\d+ \w+ \d{4}, \d\d:\d\d:\d\d GMT\+8$/,
    )
    for (const name of ['Calls', 'Conversations', 'API keys', 'Users', 'Processes', 'Audit']) {
      await page.getByRole('navigation').getByRole('link', { name, exact: true }).click()
      await page.getByRole('heading', { level: 1, name }).waitFor()
      await page.getByRole('rowheader').first().waitFor()
      expect(await hidden(page), name).toBe(0)
    }
  })

  test('columns are chosen, which the browser remembers, and the buttons of a row stay in the window', async () => {
    const { page } = await console.open('/users', undefined, {
      viewport: { width: 1024, height: 800 },
    })
    const suspend = page.getByRole('button', { name: 'Suspend bert' })
    await suspend.waitFor()
    expect(await hidden(page)).toBeGreaterThan(0)
    expect(await rightOf(suspend)).toBeLessThan(1024)
    const choose = page.getByRole('button', { name: 'Columns' })
    await choose.press('Enter')
    await page.getByRole('menuitemcheckbox', { name: 'Role', checked: true }).click()
    await page.getByRole('menuitemcheckbox', { name: 'Created', checked: true }).press(' ')
    expect(await page.getByRole('menuitemcheckbox', { name: /Username|Actions/ }).count()).toBe(0)
    await page.keyboard.press('Escape')
    expect(await hidden(page)).toBe(0)
    await page.reload()
    await suspend.waitFor()
    expect(await page.getByRole('columnheader').allTextContents()).toEqual([
      ...['Username', 'Status', 'Calls', 'Last login', 'Actions'],
    ])
  })

  test('on a phone a row has two lines, with its state and its buttons', async () => {
    const { page } = await console.open('/users', undefined, {
      viewport: { width: 390, height: 844 },
    })
    const change = page.getByRole('button', { name: 'Change bert' })
    for (const button of [change, page.getByRole('button', { name: 'Suspend bert' })]) {
      await button.scrollIntoViewIfNeeded()
      expect(await rightOf(button)).toBeLessThan(390)
    }
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
    // It is still a row of a table.
    const row = page.getByRole('row', { name: /^bert/ })
    await row.getByRole('cell', { name: '2 of 2' }).waitFor()
    for (const one of await rows(page).all()) expect((await one.boundingBox())?.height).toBeLessThan(64)
    await head(page, 'Username').getByRole('button').click()
    await expect.poll(async () => (await names(page))[0]).toBe('admin')
    await page.getByRole('button', { name: 'Filters', exact: true }).click()
    await page.getByLabel('Quota used').selectOption({ label: 'Used up' })
    await waitForNames(page, ['bert'])
    await page.getByRole('button', { name: /^Quota used: Used up/ }).waitFor()
    await page.getByRole('button', { name: /^Quota used: Used up/ }).click()
    await expect.poll(async () => (await names(page)).length).toBe(4)
    await change.click()
    await page.getByRole('dialog', { name: 'Change bert' }).waitFor()
  })

  test('on a phone no line of a row begins with the point that parts its values', async () => {
    const { page } = await console.open('/agents', undefined, { viewport: { width: 390, height: 844 } })
    await page.getByRole('cell', { name: /^≈/ }).first().waitFor()
    const points = await page.getByRole('cell').evaluateAll((cells) =>
      cells.flatMap((cell) => {
        const [left, { x, y, height }] = [
          cell.parentElement?.getBoundingClientRect().x ?? 0,
          cell.getBoundingClientRect(),
        ]
        // The cell of the buttons, and those that are not shown.
        if (height === 0 || getComputedStyle(cell).position === 'absolute') return []
        const isInSight = document.elementFromPoint(x + 6, y + height / 2) === cell
        const isFirst = x <= left + 16
        return [{ isFirst, isPoint: getComputedStyle(cell, '::before').content.includes('·') || isInSight }]
      }),
    )
    expect(points.filter(({ isFirst }) => isFirst).length).toBeGreaterThan(6)
    expect(points.filter(({ isFirst, isPoint }) => isFirst === isPoint)).toEqual([])
  })

  test('calls are filtered by all that the ledger has, and what is set can be taken away', async () => {
    const { page } = await console.open('/calls?model=')
    const count = (text: string) => page.getByText(text, { exact: true }).waitFor()
    await page.getByRole('button', { name: /^Model: \(none\)/ }).click()
    await page.getByLabel('Outcome', { exact: true }).selectOption({ label: 'All failures' })
    await count('1 call')
    await page.getByRole('button', { name: 'More filters' }).click()
    await page.getByLabel('Reason').selectOption('agent_timeout')
    await page.getByText('No calls found').waitFor()
    await page.getByRole('button', { name: /^Reason: agent_timeout/ }).click()
    await page.getByLabel('Outcome', { exact: true }).selectOption({ label: 'All' })
    await count('5 calls')
    await page.getByLabel('Interface').selectOption({ label: 'GraphQL' })
    await page.getByText('No calls found').waitFor()
    await page.getByLabel('Interface').selectOption({ label: 'REST' })
    await page.getByLabel('Tokens at least').fill('1')
    await page.getByLabel('Tokens at least').press('Enter')
    await count('4 calls')
    await page.getByLabel('Deployment').fill('main')
    await page.getByLabel('Deployment').press('Enter')
    await page.getByRole('button', { name: /^Deployment: main/ }).waitFor()
    expect(searchOf(page)).toMatchObject({ face: 'REST', tokens: '1', deployment: 'main' })
    await rows(page).first().getByRole('cell').nth(1).click()
    await page.getByRole('heading', { level: 1, name: 'Call' }).waitFor()
  })

  test('a field that no page draws is a column to choose, and a condition that no page places is among the other filters', async () => {
    const { page } = await console.open('/calls', undefined, { locale: 'en-GB' })
    await page.getByRole('button', { name: 'Columns' }).click()
    await page.getByRole('menuitemcheckbox', { name: 'Call id', checked: false }).click()
    await page.getByRole('menuitemcheckbox', { name: 'Waited in the queue', checked: false }).press(' ')
    await page.keyboard.press('Escape')
    expect((await page.getByRole('columnheader').allTextContents()).slice(-2)).toEqual([
      ...['Call id', 'Waited in the queue'],
    ])
    await page
      .getByRole('cell', { name: /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/ })
      .first()
      .waitFor()
    await page.goto(page.url().replace(/calls.*/, 'conversations'))
    await page.getByRole('button', { name: 'More filters' }).click()
    await page.getByLabel('App', { exact: true }).fill('support')
    await page.getByLabel('App', { exact: true }).press('Enter')
    await page.getByText('No conversations found').waitFor()
    expect(searchOf(page)).toEqual({ app: 'support' })
  })

  test('a long list is read page by page, on a phone without widening the page, and the browser remembers the size of the pages', async () => {
    const { api, token } = console.system
    await Promise.all(
      Array.from({ length: 27 }, (_, number) => api.createKey(token, { name: `many ${number}` })),
    )
    const { page } = await console.open('/keys?search=many', undefined, {
      viewport: { width: 360, height: 740 },
    })
    await expect.poll(() => rows(page).count()).toBe(27)
    await page.getByLabel('Rows at a time').selectOption('25')
    await expect.poll(() => rows(page).count()).toBe(25)
    await page.reload()
    await page.getByRole('button', { name: 'Load more' }).waitFor()
    expect(await page.getByLabel('Rows at a time').inputValue()).toBe('25')
    expect(await rows(page).count()).toBe(25)
    await page.getByRole('button', { name: 'Load more' }).click()
    await expect.poll(() => rows(page).count()).toBe(27)
    expect(await page.getByRole('button', { name: 'Load more' }).count()).toBe(0)
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360)
  })
})
