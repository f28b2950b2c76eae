import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HAS_BROWSER } from '../support/browser.ts'
import { type ConsoleInBrowser, startConsole } from '../support/console-page.ts'

// A browser, because its storage, its tabs and its Back button are what must keep a chat, and what must forget it.

describe.runIf(HAS_BROWSER)('chats that the browser keeps', () => {
  let console: ConsoleInBrowser

  beforeAll(async () => {
    console = await startConsole()
  })
  afterAll(() => console?.remove())

  const message = (page: Page) => page.getByRole('textbox', { name: 'Message', exact: true })
  const reply = (page: Page, number: number) => page.getByRole('article').nth(number)
  const ended = (page: Page, number: number) =>
    reply(page, number).getByRole('button', { name: 'Copy as code' }).waitFor()
  const ask = async (page: Page, text: string) => {
    await message(page).fill(text)
    await page.keyboard.press('Enter')
  }
  const list = (page: Page) => page.getByRole('complementary', { name: 'Chats' })
  const titles = (page: Page) => list(page).getByRole('link').locator('span:first-child').allTextContents()

  test('chats of all agents are in a list; Back, a reload and another login lose nothing', async () => {
    const { page, logIn, problems, violations } = await console.visit('/')
    await logIn()
    await page.getByRole('link', { name: 'Playground', exact: true }).click()
    // Without a chat, the first agent that answers.
    await page.waitForURL(/\/playground\/\w+$/)
    await list(page).getByText('No chats yet').waitFor()
    await page.getByLabel('Agent', { exact: true }).selectOption('Dify')
    await page.waitForURL(/\/playground\/dify$/)
    await message(page).fill('half a question')
    await page.reload()
    await expect.poll(() => message(page).inputValue()).toBe('half a question')

    await ask(page, 'sandbox:echo first chat')
    await ended(page, 0)
    await page.waitForURL(/\/playground\/dify\?chat=\w+$/)
    await message(page).fill('half a reply')
    await page.goto(`${console.system.gateway.url}/console/agents/openai`)
    await page.waitForURL(/\/playground\/openai$/)
    expect(await message(page).inputValue()).toBe('')
    await ask(page, 'sandbox:echo second chat')
    await ended(page, 0)
    await expect.poll(() => titles(page)).toEqual(['sandbox:echo second chat', 'sandbox:echo first chat'])
    expect(await violations()).toEqual([])

    await list(page).getByRole('link', { name: 'first chat' }).click()
    await reply(page, 0).getByText('sandbox:echo first chat').waitFor()
    await expect.poll(() => message(page).inputValue()).toBe('half a reply')
    await page.goBack()
    await reply(page, 0).getByText('sandbox:echo second chat').waitFor()
    await page.goForward()
    await reply(page, 0).getByText('sandbox:echo first chat').waitFor()
    await page.reload()
    await reply(page, 0).getByText('sandbox:echo first chat').waitFor()
    expect(await message(page).inputValue()).toBe('half a reply')
    await page.getByRole('button', { name: 'New chat' }).click()
    await page.getByText('Ask Dify something').waitFor()
    expect(await message(page).inputValue()).toBe('')

    // After a logout that keeps them, and in the menu the last one.
    await page.getByTitle('Account').click()
    await page.getByRole('button', { name: 'Log out' }).click()
    expect(await violations()).toEqual([])
    await page.getByRole('button', { name: 'Keep and log out' }).click()
    await logIn()
    await page.getByRole('link', { name: 'Playground', exact: true }).click()
    await reply(page, 0).getByText('sandbox:echo second chat').waitFor()
    await page.waitForURL(/\/playground\/openai\?chat=\w+$/)

    const row = list(page).getByRole('listitem').filter({ hasText: 'first chat' })
    await row.hover()
    await row.getByRole('button', { name: /^Rename/ }).click()
    await page.getByLabel('Name', { exact: true }).fill('Of the gateway')
    expect(await violations()).toEqual([])
    await page.keyboard.press('Enter')
    await expect.poll(() => titles(page)).toEqual(['sandbox:echo second chat', 'Of the gateway'])
    const shown = list(page).getByRole('listitem').filter({ hasText: 'second chat' })
    await shown.hover()
    await shown.getByRole('button', { name: /^Delete/ }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete the chat' }).click()
    await page.waitForURL(/\/playground\/openai$/)
    await page.reload()
    await expect.poll(() => titles(page)).toEqual(['Of the gateway'])
    expect(problems).toEqual([])
  })

  test('another user of the browser sees none of them, and Log out deletes them', async () => {
    const { api, token } = console.system
    await api.createUser(token, 'dora', { password: 'password of dora', role: 'premium' })
    const { page, logIn, problems } = await console.visit('/playground/dify')
    await logIn()
    await ask(page, 'sandbox:echo a secret')
    await ended(page, 0)
    const chat = new URL(page.url())
    await page.getByTitle('Account').click()
    await page.getByRole('button', { name: 'Log out' }).click()
    await page.getByRole('button', { name: 'Keep and log out' }).click()
    await page.getByLabel('Username').waitFor()
    await page.goto(chat.href)
    await logIn('dora', 'password of dora')
    await page.getByText('This chat is not in this browser').waitFor()
    await list(page).getByText('No chats yet').waitFor()
    expect(await page.getByText('a secret').count()).toBe(0)
    // Without chats, there is no question.
    await page.getByTitle('Account').click()
    await page.getByRole('button', { name: 'Log out' }).click()
    await page.getByLabel('Username').waitFor()

    await page.goto(chat.href)
    await logIn()
    await reply(page, 0).getByText('sandbox:echo a secret').waitFor()
    await page.getByTitle('Account').click()
    await page.getByRole('button', { name: 'Log out' }).click()
    await page.getByRole('button', { name: 'Delete and log out' }).click()
    await page.getByLabel('Username').waitFor()
    expect(await page.evaluate(countRows)).toEqual([0, 0, 0])
    expect(problems).toEqual([])
  })

  test('Log out deletes what another tab is writing as well', async () => {
    const { page, logIn, problems } = await console.visit('/playground/openai')
    await logIn()
    await ask(page, 'sandbox:slow=20 sandbox:long=400 Hello')
    await reply(page, 0).getByText('20 网关').waitFor()
    await message(page).fill('half a question')
    const other = await page.context().newPage()
    await other.goto(`${console.system.gateway.url}/console/account`)
    await other.getByRole('button', { name: 'Log out' }).click()
    await other.getByRole('button', { name: 'Delete and log out' }).click()
    await page.getByText('You logged out in another tab.').waitFor()
    await other.getByLabel('Username').waitFor()
    expect(await page.evaluate(countRows)).toEqual([0, 0, 0])
    expect(problems).toEqual([])
  })

  test('a question is edited in a chat of its own, and another answer keeps the one before', async () => {
    const { page, logIn, problems, violations } = await console.visit('/playground/dify')
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await logIn()
    await ask(page, 'sandbox:echo one')
    await ended(page, 0)
    await ask(page, 'sandbox:echo two')
    await ended(page, 1)
    await ask(page, 'sandbox:echo three')
    await ended(page, 2)
    await reply(page, 2).getByRole('button', { name: 'Copy the answer' }).click()
    await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toContain('three')

    await reply(page, 2).getByRole('button', { name: 'Answer again' }).click()
    await reply(page, 2).getByText('1 earlier answer').click()
    await ended(page, 2)
    await reply(page, 2).getByText('A new conversation').waitFor()
    expect(await page.getByRole('article').count()).toBe(3)
    expect(await violations()).toEqual([])

    const before = page.url()
    await reply(page, 1).getByRole('button', { name: 'Edit', exact: true }).click()
    await page.getByText('It is sent in a new chat').waitFor()
    expect(await violations()).toEqual([])
    await page.getByLabel('Your question').fill('sandbox:echo other')
    await page.getByRole('button', { name: 'Send again' }).click()
    await ended(page, 1)
    expect(page.url()).not.toBe(before)
    expect(await page.getByRole('article').count()).toBe(2)
    await reply(page, 1).getByText('A new conversation').waitFor()
    // The platform got what was said before, and the conversation goes on from there.
    await reply(page, 1).getByRole('button', { name: 'Copy as code' }).click()
    await page.getByRole('group', { name: 'curl' }).getByText('User: sandbox:echo one').waitFor()
    await page.keyboard.press('Escape')
    await page.goBack()
    await reply(page, 2).getByText('1 earlier answer').waitFor()
    await expect.poll(() => page.getByRole('article').count()).toBe(3)
    expect(problems).toEqual([])
  })

  test('two tabs with one chat: the second follows the answer, and both may add to it', async () => {
    const { page, logIn } = await console.visit('/playground/openai')
    await logIn()
    await ask(page, 'sandbox:echo to begin with')
    await ended(page, 0)
    const second = await page.context().newPage()
    await second.goto(page.url())
    const username = second.locator('input[autocomplete=username]')
    await username.or(message(second)).first().waitFor()
    if ((await username.count()) > 0) {
      await username.fill(console.system.gateway.admin.username)
      await second.locator('input[autocomplete=current-password]').fill(console.system.gateway.admin.password)
      await second.locator('button[type=submit]').click()
    }
    await reply(second, 0).waitFor()
    await ask(page, 'sandbox:slow=20 sandbox:long=200 Hello')
    await reply(second, 1).getByText('This answer is being written in another tab.').waitFor()
    await reply(second, 1).getByText('200 网关').waitFor()
    await reply(second, 1).getByRole('button', { name: 'Answer again' }).waitFor()
    await ask(second, 'sandbox:echo from the second tab')
    await ended(second, 2)
    await reply(page, 2).getByText('sandbox:echo from the second tab').waitFor()
    await reply(page, 2).getByText('Copy as code').waitFor()
    await ask(page, 'sandbox:echo from the first tab')
    await ended(page, 3)
    await second.reload()
    await ended(second, 3)
    // Deleted in one tab, it is gone from both.
    const row = list(second).getByRole('listitem').first()
    await row.hover()
    await row.getByRole('button', { name: /^Delete/ }).click()
    await second.getByRole('dialog').getByRole('button', { name: 'Delete the chat' }).click()
    await page.getByText('This chat is not in this browser').waitFor()
  })

  test.each(['refuses to store anything', 'never answers'])(
    'a browser that %s is said to keep nothing, and chats nevertheless',
    async (how) => {
      const { page, logIn, problems } = await console.visit('/login')
      await page.addInitScript((doesAnswer) => {
        Object.defineProperty(globalThis, 'indexedDB', {
          get: () => ({
            open() {
              if (doesAnswer) throw new DOMException('', 'SecurityError')
              return {}
            },
          }),
        })
      }, how === 'refuses to store anything')
      await page.goto(`${console.system.gateway.url}/console/playground/dify`)
      await logIn()
      await list(page).getByText('This browser keeps nothing.').waitFor()
      await ask(page, 'sandbox:echo in memory')
      await ended(page, 0)
      await page.getByRole('link', { name: 'Agents', exact: true }).click()
      await page.getByRole('link', { name: 'Playground', exact: true }).click()
      await reply(page, 0).getByText('sandbox:echo in memory').waitFor()
      expect(problems).toEqual([])
    },
  )

  test('in a chat of 500 messages, typing is as fast as in an empty one', async () => {
    const { page, logIn, problems } = await console.visit('/playground/dify')
    await logIn()
    await message(page).waitFor()
    const empty = await typingMs(page)
    await ask(page, 'sandbox:echo **one** of `many`')
    await ended(page, 0)
    await page.evaluate(repeatTurns, 500)
    await page.reload()
    // Found by their elements, because the roles of so many take long to tell.
    const articles = page.locator('article')
    const earlier = page.getByText('Show earlier messages')
    await articles.nth(59).waitFor()
    // All of them in sight, which a reader must ask for.
    while ((await earlier.count()) > 0) await earlier.click()
    expect(await articles.count()).toBe(500)
    const full = await typingMs(page)
    // Laying out all of the messages again takes 3 ms, and drawing them again a hundred.
    expect(full.layout).toBeLessThan(empty.layout + 2)
    expect(full.script).toBeLessThan(empty.script + 15)
    await ask(page, 'sandbox:echo the last')
    await articles.nth(500).getByText('Copy as code').waitFor()
    expect(problems).toEqual([])
  })

  /** The work of the page for each of 40 keys, in milliseconds. The time until a key is seen depends on the machine's other work. */
  async function typingMs(page: Page): Promise<{ readonly layout: number; readonly script: number }> {
    const browser = await page.context().newCDPSession(page)
    await browser.send('Performance.enable')
    const spent = async () => {
      const { metrics } = await browser.send('Performance.getMetrics')
      const msOf = (name: string) => 1_000 * (metrics.find((metric) => metric.name === name)?.value ?? 0)
      return { layout: msOf('LayoutDuration') + msOf('RecalcStyleDuration'), script: msOf('ScriptDuration') }
    }
    await message(page).click()
    await page.evaluate(() => new Promise((resolve) => requestIdleCallback(resolve)))
    const before = await spent()
    await page.keyboard.type('abcdefghij'.repeat(4))
    const after = await spent()
    await browser.detach()
    await message(page).fill('')
    return { layout: (after.layout - before.layout) / 40, script: (after.script - before.script) / 40 }
  }
})

/** How many chats, turns and drafts the browser has of all users. It runs in the page. */
function countRows(): Promise<readonly number[]> {
  return new Promise((resolve) => {
    const opening = indexedDB.open('trunkline.chats')
    opening.onsuccess = () => {
      const names = ['chats', 'turns', 'drafts']
      const transaction = opening.result.transaction(names)
      const counts = names.map((name) => transaction.objectStore(name).count())
      transaction.oncomplete = () => resolve(counts.map(({ result }) => result))
    }
  })
}

/** Makes the first stored turn many. It runs in the page. */
function repeatTurns(count: number): Promise<unknown> {
  return new Promise((resolve) => {
    const opening = indexedDB.open('trunkline.chats')
    opening.onsuccess = () => {
      const transaction = opening.result.transaction('turns', 'readwrite')
      const turns = transaction.objectStore('turns')
      const reading = turns.getAll()
      reading.onsuccess = () => {
        const [{ chatId, turn }] = reading.result
        for (let number = 1; number < count; number++) {
          const id = `copy-${number}`
          turns.put({ chatId, id, turn: { ...turn, id, startedAtMs: turn.startedAtMs - number } })
        }
      }
      transaction.oncomplete = resolve
    }
  })
}
