import type { ApiKey, Upload } from '@trunkline/sdk'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HAS_BROWSER } from '../support/browser.ts'
import { type ConsoleInBrowser, startConsole } from '../support/console-page.ts'

// A browser, because hostile Markdown is harmless only if a browser neither runs nor loads it, and input methods are its own.

const MARKDOWN = `# Report

See [the guide](https://example.com/guide) and 请看https://example.com/a，谢谢.

1. first

2. second

| Agent | Calls |
| --- | --: |
| Dify | 12 |

\`\`\`js
const a = 1

const b = 2
\`\`\`

<img src=x onerror=alert(1)>

<div style="position:fixed;inset:0" onclick="alert(1)">over the page</div>

[press me](javascript:alert(1)), [logout](/console/account), [https://bank.example](https://evil.example)

![a picture](https://tracker.example/pixel.png)`

/** One pixel. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

describe.runIf(HAS_BROWSER)('agents and the playground', () => {
  let console: ConsoleInBrowser

  beforeAll(async () => {
    console = await startConsole({ isOnDisk: true })
  })
  afterAll(() => console?.remove())

  const management = async (path: string) => {
    const { api, token } = console.system
    const { body } = await api.call('GET', `/api/v1${path}`, { token })
    return body.data
  }
  /** The keys that the playground has made for an agent, newest first. */
  const keysOf = async (agent: string) => {
    const { items } = await management('/api-keys?limit=100')
    return (items as ApiKey[]).filter(({ name }) => name === `playground ${agent}`)
  }
  const message = (page: Page) => page.getByRole('textbox', { name: 'Message', exact: true })
  const reply = (page: Page, number: number) => page.getByRole('article').nth(number)
  const ended = (page: Page, number: number) => reply(page, number).getByText('Total time').waitFor()
  const ask = async (page: Page, text: string) => {
    await message(page).fill(text)
    await page.keyboard.press('Enter')
  }

  test('an agent is found and asked, the conversation goes on, and the key ends with the session', async () => {
    const { page, logIn, problems, violations } = await console.visit('/agents')
    await logIn()
    await expect.poll(() => page.getByText('Available').count()).toBe(5)
    await page.getByRole('link', { name: 'FastGPT', exact: true }).click()
    await page.getByRole('region', { name: 'FastGPT' }).getByText('app_id', { exact: true }).waitFor()
    expect(await violations()).toEqual([])

    await page.getByRole('link', { name: 'Ask FastGPT' }).click()
    // The app is part of the address, so that this view can be sent to a colleague.
    await page.getByLabel('App id').fill('app-1')
    await message(page).focus()
    await page.waitForURL(/\/playground\/fastgpt\?app=app-1$/)
    expect(await keysOf('fastgpt')).toEqual([])
    await message(page).fill('Line one')
    await page.keyboard.press('Shift+Enter')
    await page.keyboard.type('and two')
    await page.keyboard.press('Enter')
    await ended(page, 0)
    expect(await reply(page, 0).getByText('Line one\nand two', { exact: true }).count()).toBe(1)
    await reply(page, 0).getByRole('list', { name: 'What the agent did' }).getByText('Node').first().waitFor()

    await ask(page, 'Hello again')
    await ended(page, 1)
    await reply(page, 1).getByText('This is turn 2 of our conversation').waitFor()
    const lastCall = async () => (await management('/calls?limit=1')).items[0]
    await expect.poll(lastCall).toMatchObject({ agent: 'fastgpt', app: 'app-1', outcome: 'done' })
    const call = await lastCall()
    expect(await reply(page, 1).getByText(call.request_id).count()).toBe(1)

    await reply(page, 1).getByRole('button', { name: 'Copy as code' }).click()
    const curl = await page.getByRole('group', { name: 'curl' }).textContent()
    expect(curl).toContain('"query":"Hello again"')
    expect(curl).not.toMatch(/tl_[0-9A-Za-z]{10}/)
    await page.getByRole('button', { name: 'TypeScript' }).click()
    expect(await page.getByRole('group', { name: 'TypeScript' }).textContent()).toContain(
      "model: 'fastgpt/app-1'",
    )
    await page.keyboard.press('Escape')
    expect(await violations()).toEqual([])

    const [key, ...others] = await keysOf('fastgpt')
    expect(others).toEqual([])
    expect(Date.parse(key?.expires_at ?? '') - Date.now()).toBeLessThanOrEqual(60 * 60_000)
    expect(key).toMatchObject({
      description: "Made by the console's playground",
      permissions: ['chat', 'upload'],
      allowed_agents: ['fastgpt'],
      is_active: true,
    })

    // Revoked elsewhere: the next message makes another key and arrives nevertheless.
    const { api, token } = console.system
    await api.call('POST', `/api/v1/api-keys/${key?.id}/revoke`, { token })
    await ask(page, 'Hello once more')
    await ended(page, 2)
    await reply(page, 2).getByText('This is turn 3 of our conversation').waitFor()
    expect((await keysOf('fastgpt')).map(({ is_active }) => is_active)).toEqual([true, false])

    await page.getByTitle('Account').click()
    await page.getByRole('button', { name: 'Log out' }).click()
    await page.getByLabel('Username').waitFor()
    expect((await keysOf('fastgpt')).map(({ is_active }) => is_active)).toEqual([false, false])
    expect(await page.evaluate(() => sessionStorage.length)).toBe(0)
    expect(problems).toEqual([])
  })

  test('stopping ends the run, and a reader who has scrolled away is left alone', async () => {
    const { page, logIn, problems } = await console.visit('/agents/dify')
    await logIn()
    await ask(page, 'sandbox:slow=5 sandbox:long=100000 Hello')
    const log = page.getByRole('log', { name: 'Messages' })
    await log.getByText('400 网关').waitFor()
    const distanceToEnd = () => log.evaluate((box) => box.scrollHeight - box.scrollTop - box.clientHeight)
    // The page follows with its next frame.
    await expect.poll(distanceToEnd).toBeLessThan(60)
    await log.hover()
    await page.mouse.wheel(0, -400)
    await page.getByRole('button', { name: 'To the end' }).waitFor()
    const away = await distanceToEnd()
    await log.getByText('700 网关').waitFor()
    expect(await distanceToEnd()).toBeGreaterThanOrEqual(away)
    await page.getByRole('button', { name: 'To the end' }).click()
    await expect.poll(distanceToEnd).toBeLessThan(60)

    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByText('You stopped this reply.').waitFor()
    const stopped = { outcome: 'client_gone', reason: 'stopped' }
    await expect.poll(async () => (await management('/calls?limit=1')).items[0]).toMatchObject(stopped)
    await log.getByText('700 网关').waitFor()
    expect(problems).toEqual([])
  })

  test('chats of all agents are in a list that the gateway keeps: Back, a reload and another login lose nothing', async () => {
    const { page, logIn, problems, violations } = await console.visit('/')
    const chats = page.getByRole('complementary', { name: 'Chats' })
    await logIn()
    await page.getByRole('link', { name: 'Playground', exact: true }).click()
    // Without a chat, the first agent that answers.
    await page.waitForURL(/\/playground\/\w+$/)
    await page.getByLabel('Agent', { exact: true }).selectOption('Dify')
    await page.waitForURL(/\/playground\/dify$/)
    await ask(page, 'sandbox:echo first chat')
    await ended(page, 0)
    await page.waitForURL(/\/playground\/dify\?chat=playground-\w+$/)
    await page.getByRole('button', { name: 'New chat' }).click()
    await page.getByText('Ask Dify something').waitFor()
    await page.getByLabel('Agent', { exact: true }).selectOption('openai')
    await ask(page, 'sandbox:echo second chat')
    await ended(page, 0)
    const shown = chats.getByRole('listitem').filter({ has: page.locator('[aria-current]') })
    await shown.getByRole('button', { name: /^Rename/ }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('Second')
    await page.keyboard.press('Enter')
    await chats.getByRole('link', { name: 'Second' }).waitFor()
    expect(await violations()).toEqual([])

    await chats.getByRole('link', { name: 'Dify' }).first().click()
    await reply(page, 0).getByText('first chat').last().waitFor()
    await page.goBack()
    await reply(page, 0).getByText('second chat').last().waitFor()
    await page.reload()
    await reply(page, 0).getByText('second chat').last().waitFor()
    await ask(page, 'sandbox:echo and on')
    await ended(page, 1)

    const again = await console.visit('/playground/openai')
    await again.logIn()
    const list = again.page.getByRole('complementary', { name: 'Chats' })
    await list.getByRole('link', { name: 'Second' }).click()
    await reply(again.page, 1).getByText('and on').last().waitFor()
    await list.getByRole('button', { name: 'Delete “Second”' }).click()
    await again.page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click()
    await list.getByRole('link', { name: 'Second' }).waitFor({ state: 'detached' })
    await again.page.waitForURL(/\/playground\/openai$/)
    expect(problems).toEqual([])
  })

  test('a picture that this gateway has is shown in the reply, and one of another server is a link', async () => {
    const { page, logIn, problems, violations } = await console.visit('/agents/openai')
    await logIn()
    const picture = { name: 'chart.png', mimeType: 'image/png', buffer: PNG }
    await page.locator('input[type=file]').setInputFiles(picture)
    const urls = async () => (await management('/uploads?limit=1')).items.map(({ url }: Upload) => url)
    await expect.poll(urls).toHaveLength(1)
    const [url] = await urls()
    await page.getByRole('button', { name: 'Remove chart.png' }).waitFor()
    await ask(page, `sandbox:echo ![A chart](${url}) and ![Other](https://other.example/chart.png)`)
    await ended(page, 0)
    const answer = reply(page, 0)
    const shown = answer.getByRole('img', { name: 'A chart' })
    await expect.poll(() => shown.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(1)
    expect(await answer.getByRole('img').count()).toBe(1)
    expect(await answer.getByRole('link', { name: 'Other' }).getAttribute('href')).toBe(
      'https://other.example/chart.png',
    )
    expect(await violations()).toEqual([])

    // What the text does not show is below it, under the same rule.
    const files = [
      { type: 'image', url: `${url}?own`, name: 'Own' },
      { type: 'image', url: 'https://other.example/chart.png', name: 'Shown' },
      { type: 'document', url: 'https://other.example/%E8%A1%A8.pdf' },
      { type: 'audio', name: 'Out of reach' },
    ]
    const choice = {
      index: 0,
      delta: { content: 'See https://other.example/chart.png' },
      finish_reason: 'stop',
    }
    await page.route('**/api/v1/chat', (route) =>
      route.fulfill({
        contentType: 'text/event-stream',
        body: `data: ${JSON.stringify({ id: 'c1', choices: [choice], files })}\n\ndata: [DONE]\n\n`,
      }),
    )
    await ask(page, 'More')
    await ended(page, 1)
    const list = reply(page, 1).getByRole('list', { name: 'Files of the agent' })
    expect(await list.getByRole('listitem').count()).toBe(2)
    await list.getByRole('img', { name: 'Own' }).waitFor()
    await list.getByRole('link', { name: '表.pdf' }).waitFor()
    expect(await violations()).toEqual([])
    expect(problems).toEqual([])
  })

  test('hostile Markdown covers nothing, leads nowhere else than it says, and fits a phone', async () => {
    const { page, logIn, problems, violations } = await console.visit('/agents/openai')
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    const elsewhere: string[] = []
    page.on('request', (request) => {
      if (!request.url().startsWith(console.system.gateway.url)) elsewhere.push(request.url())
    })
    await logIn()
    await ask(page, `sandbox:echo ${MARKDOWN}`)
    await ended(page, 0)
    const answer = reply(page, 0)
    await answer.getByText('Report', { exact: true }).waitFor()
    expect(await answer.getByRole('listitem').filter({ hasText: 'second' }).count()).toBe(1)
    expect(await answer.getByRole('cell').allTextContents()).toEqual(['Dify', '12'])
    await answer.getByRole('button', { name: 'Copy', exact: true }).first().click()
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('const a = 1\n\nconst b = 2')
    const links = await answer
      .locator('a[target=_blank]')
      .evaluateAll((all) => all.map((link) => [link.textContent, link.getAttribute('href')]))
    expect(links).toEqual([
      ['the guide', 'https://example.com/guide'],
      ['https://example.com/a', 'https://example.com/a'],
      ['https://bank.example', 'https://bank.example'],
      ['a picture', 'https://tracker.example/pixel.png'],
    ])
    for (const rel of await answer
      .locator('a[target=_blank]')
      .evaluateAll((all) => all.map((link) => link.getAttribute('rel'))))
      expect(rel).toMatch(/noopener noreferrer/)
    expect(await answer.locator('img, iframe, script, [onclick], [style*=position]').count()).toBe(0)
    // In the message and in its reply.
    expect(await answer.getByText('<img src=x onerror=alert(1)>').count()).toBe(2)
    expect(await answer.locator('a', { hasText: /press me|logout/ }).count()).toBe(0)
    expect(await violations()).toEqual([])

    await page.setViewportSize({ width: 390, height: 664 })
    const overflow = () => page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
    expect(await overflow()).toBeLessThanOrEqual(0)
    // A long chat leaves the place to write and the button in sight.
    const send = await page.getByRole('button', { name: 'Send' }).boundingBox()
    expect((send?.y ?? 664) + (send?.height ?? 0)).toBeLessThanOrEqual(664)
    expect(await page.evaluate(() => document.documentElement.scrollHeight)).toBe(664)
    expect(elsewhere).toEqual([])
    expect(problems).toEqual([])
  })

  test('files are uploaded, removed and sent; a failure says why and can be tried again', async () => {
    const { page, logIn, problems, violations } = await console.visit('/agents/coze')
    await logIn()
    const choose = (name: string, text: string) =>
      page
        .getByLabel('Attach files')
        .and(page.locator('input'))
        .setInputFiles({ name, mimeType: 'text/plain', buffer: Buffer.from(text) })
    await message(page).waitFor()
    await choose('unwanted.txt', 'not this one')
    await choose('wanted.txt', 'this one')
    const uploads = async () =>
      (await management('/uploads')).items
        .map(({ filename }: { filename: string }) => filename)
        .filter((name: string) => name.endsWith('.txt'))
        .sort()
    await expect.poll(uploads).toEqual(['unwanted.txt', 'wanted.txt'])
    await page.getByRole('button', { name: 'Remove unwanted.txt' }).click()
    await expect.poll(uploads).toEqual(['wanted.txt'])
    await message(page).fill('What is in it?')
    await page.getByRole('button', { name: 'Send' }).click()
    await ended(page, 0)
    await reply(page, 0).getByText('wanted.txt (8 bytes').waitFor()
    expect(await page.getByRole('button', { name: 'Remove wanted.txt' }).count()).toBe(0)

    await ask(page, 'sandbox:error=rate-limit Hello')
    await ended(page, 1)
    const alert = reply(page, 1).getByRole('alert')
    await alert.getByText('agent_rate_limited').waitFor()
    await reply(page, 1).getByRole('link', { name: 'See the call' }).waitFor()
    await message(page).fill('typed meanwhile')
    expect(await violations()).toEqual([])
    await alert.getByRole('button', { name: 'Try again' }).click()
    await ended(page, 1)
    expect(await page.getByRole('article').count()).toBe(2)
    expect(await reply(page, 1).getByText('sandbox:error=rate-limit Hello').count()).toBe(1)
    expect(await message(page).inputValue()).toBe('typed meanwhile')

    await choose('empty.txt', '')
    await page.getByText('Remove the file that was not uploaded, then send.').waitFor()
    expect(await page.getByRole('button', { name: 'Send' }).isDisabled()).toBe(true)
    await page.getByRole('button', { name: 'Remove empty.txt' }).click()
    await page.getByText('Enter sends').waitFor()
    expect(problems).toEqual([])
  })

  test('Enter that chooses a word of an input method does not send', async () => {
    const { page, logIn } = await console.visit('/agents/openai')
    await logIn()
    await message(page).click()
    const browser = await page.context().newCDPSession(page)
    await browser.send('Input.imeSetComposition', { text: 'nihao', selectionStart: 5, selectionEnd: 5 })
    // The code with which browsers report keys that an input method handles.
    await browser.send('Input.dispatchKeyEvent', {
      type: 'rawKeyDown',
      key: 'Enter',
      windowsVirtualKeyCode: 229,
    })
    await browser.send('Input.insertText', { text: '你好' })
    expect(await message(page).inputValue()).toBe('你好')
    expect(await page.getByRole('article').count()).toBe(0)
    await page.keyboard.press('Enter')
    await ended(page, 0)
  })

  test('a user who may not make keys pastes one, which is neither stored nor revoked', async () => {
    const { api, token, gateway } = console.system
    const { id } = await api.createUser(token, 'carol', { password: 'password of carol', role: 'user' })
    const key = await api.createKey(token, { owner_id: id, name: 'of carol', permissions: ['chat'] })
    const { page, logIn, problems, violations } = await console.visit('/agents/hiagent')
    await logIn('carol', 'password of carol')
    await message(page).fill('Hello')
    expect(await page.getByRole('button', { name: 'Send' }).isDisabled()).toBe(true)
    expect(await violations()).toEqual([])
    await page.getByLabel('API key', { exact: true }).fill(key.full_key)
    await page.getByRole('button', { name: 'Use this key' }).click()
    await page.getByRole('button', { name: 'Send' }).click()
    await ended(page, 0)
    await reply(page, 0).getByText('Hello from the HiAgent emulator').waitFor()

    // An answer that a reload has broken off waits for the key.
    await ask(page, 'sandbox:slow=20 sandbox:long=200 Hello')
    await reply(page, 1).getByText('20 网关').waitFor()
    await page.reload()
    await page.getByText('Paste your key again to read on.').waitFor()
    await reply(page, 0).getByText('Hello from the HiAgent emulator').waitFor()
    await page.getByLabel('API key', { exact: true }).fill(key.full_key)
    await page.getByRole('button', { name: 'Use this key' }).click()
    await reply(page, 1).getByText('200 网关').waitFor()
    const stored = await page.evaluate(() => JSON.stringify([{ ...sessionStorage }, { ...localStorage }]))
    expect(stored).not.toContain(key.full_key)
    await page.goto(`${gateway.url}/console/agents`)
    await page.getByRole('link', { name: 'Ask HiAgent' }).waitFor()
    expect((await management(`/api-keys/${key.id}`)).is_active).toBe(true)
    expect(problems).toEqual([])
  })
})
