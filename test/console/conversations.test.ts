import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HAS_BROWSER } from '../support/browser.ts'
import { type ConsoleInBrowser, type ConsolePage, startConsole } from '../support/console-page.ts'

// A browser, because a conversation goes from a table over a page into the chats that the browser keeps.
// A gateway of its own, because its platforms are taken away.

describe.runIf(HAS_BROWSER)('conversations in the console', () => {
  let console: ConsoleInBrowser

  beforeAll(async () => {
    console = await startConsole({ settings: { conversations: { maxTurns: 1 } } })
  })
  afterAll(() => console?.remove())

  const rows = (page: Page) =>
    page.getByRole('row').filter({ has: page.getByRole('rowheader').getByRole('link') })
  const title = (page: Page, name: string) => page.getByRole('heading', { level: 1, name }).waitFor()
  const counted = (page: Page, text: string) => page.getByRole('heading', { level: 2, name: text }).waitFor()
  const messages = (page: Page) => page.getByRole('list', { name: 'Messages' }).locator('> li')
  const reply = (page: Page, number: number) => page.getByRole('article').nth(number)

  /** Asks an agent in a conversation, waits until the gateway lists it with all its answers, and returns its id. */
  async function say(
    agent: string,
    conversation: string,
    queries: readonly string[],
    turns = queries.length,
  ): Promise<string> {
    const { api, key, token } = console.system
    for (const query of queries) {
      const more = { chat_id: conversation, conversation_id: conversation, query: `sandbox:echo ${query}` }
      expect(await (await api.chat(key, agent, { ...more, user: 'ann' })).text()).toContain(query)
    }
    let id = ''
    await expect
      .poll(async () => {
        const path = `/api/v1/conversations?conversation=${conversation}`
        const { body } = await api.call('GET', path, { token })
        id = body.data.items[0]?.id ?? ''
        return body.data.items[0]?.turns
      })
      .toBe(turns)
    return id
  }
  async function openOne(id: string): Promise<ConsolePage> {
    return await console.open(`/conversations/${id}`)
  }

  test('they are listed and filtered, and one is read backwards, renamed and deleted', async () => {
    const queries = Array.from({ length: 13 }, (_, number) => `word ${number}.`)
    await say('dify', 'long-talk', queries)
    await say('coze', 'short-talk', ['Hello.'])
    const { page, problems } = await console.open('/conversations')
    await title(page, 'Conversations')
    await counted(page, '2 conversations')
    await page.getByLabel('Agent', { exact: true }).selectOption({ label: 'Dify' })
    await page.getByLabel('End user', { exact: true }).fill('ann')
    await page.getByLabel('End user', { exact: true }).press('Enter')
    await page.getByLabel('Name, id or end user').fill('LONG')
    await counted(page, '1 conversation')
    expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({
      agent: 'dify',
      endUser: 'ann',
      search: 'LONG',
    })
    await page.reload()
    await counted(page, '1 conversation')
    await rows(page).getByRole('link', { name: 'long-talk' }).click()

    await title(page, 'long-talk')
    await messages(page).nth(19).getByText('word 12.').waitFor()
    expect(await messages(page).count()).toBe(20)
    await page.getByRole('button', { name: 'Show earlier messages' }).click()
    await messages(page).nth(25).getByText('word 12.').waitFor()
    await messages(page).nth(1).getByText('word 0.').waitFor()
    expect(await page.getByRole('button', { name: 'Show earlier messages' }).count()).toBe(0)
    await page.getByRole('link', { name: 'Calls of this conversation' }).click()
    await counted(page, '13 calls')
    await page.goBack()

    await page.getByRole('button', { name: 'Rename' }).click()
    await page.getByLabel('Name', { exact: true }).fill('A long talk')
    await page.keyboard.press('Enter')
    await title(page, 'A long talk')

    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('It is deleted at the platform of Dify').waitFor()
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click()
    await title(page, 'Conversations')
    await counted(page, '1 conversation')
    await rows(page).getByRole('link', { name: 'short-talk' }).waitFor()
    expect(problems).toEqual([])
  })

  test('a platform that is away is an error of the messages alone, and deletes nothing', async () => {
    const id = await say('coze', 'away', ['Are you there?'])
    const { control } = console.system.sandbox.agents.coze
    await control.fail('refuse')
    const { page } = await openOne(id)
    await title(page, 'away')
    const card = page.getByRole('region', { name: 'Messages' })
    await card.getByText('agent_unreachable').waitFor()
    await page.getByRole('region', { name: 'Conversation' }).getByText('Done').waitFor()
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click()
    await dialog.getByText('agent_unreachable').waitFor()
    await control.recover()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await card.getByRole('button', { name: 'Try again' }).click()
    await messages(page).nth(1).getByText('Are you there?').waitFor()
  })

  test('what the gateway has dropped of its own turns is said', async () => {
    const id = await say('openai', 'forgetful', ['First.', 'Second.'])
    const { page } = await openOne(id)
    await page.getByText('Older messages have been dropped').waitFor()
    await messages(page).nth(1).getByText('Second.').waitFor()
    expect(await messages(page).count()).toBe(2)
  })

  test('one goes on in the playground, where answers are rated, until it is deleted', async () => {
    const id = await say('dify', 'goes-on', ['My name is Ann.'])
    const { page, problems } = await openOne(id)
    await page.getByRole('button', { name: 'Go on in the playground' }).click()
    await page.waitForURL(/\/playground\/dify\?chat=goes-on/)
    await reply(page, 0).getByText('My name is Ann.').last().waitFor()
    await page.getByRole('textbox', { name: 'Message', exact: true }).fill('sandbox:echo Good morning.')
    await page.keyboard.press('Enter')
    await reply(page, 1).getByText('Total time').waitFor()

    const good = reply(page, 1).getByRole('button', { name: 'Good answer' })
    const pressed = (value: boolean) =>
      expect.poll(() => good.getAttribute('aria-pressed')).toBe(String(value))
    await good.press('Enter')
    await pressed(true)
    await reply(page, 1).getByLabel('What was good or bad').fill('Just right.')
    // The button is disabled before the gateway has the remark.
    const stored = page.waitForResponse(
      (response) => response.request().postData()?.includes('Just right.') === true,
    )
    await page.keyboard.press('Enter')
    await (await stored).finished()
    const send = reply(page, 1).getByRole('button', { name: 'Send the remark' })
    await expect.poll(() => send.isDisabled()).toBe(true)
    await page.reload()
    await pressed(true)

    // The gateway has both messages in the one conversation, with the rating.
    const { token, api } = console.system
    const said = async () => {
      const { body } = await api.call('GET', `/api/v1/conversations/${id}/messages`, { token })
      return (body.data.items as { role: string; rating: string | null }[]).map(
        ({ role, rating }) => `${role} ${rating}`,
      )
    }
    await expect.poll(said).toEqual(['user null', 'assistant null', 'user null', 'assistant up'])

    // So has the record of the call, and the overview counts it.
    const chat = page.url()
    const { body } = await api.call('GET', `/api/v1/conversations/${id}/messages`, { token })
    await page.goto(`${console.system.gateway.url}/console/`)
    await page.getByText('rated: 1 good, 0 bad').waitFor()
    await page.goto(`${console.system.gateway.url}/console/calls/${body.data.items.at(-1).call_id}`)
    await page.getByText('Rated good').waitFor()
    await page.getByText('Just right.').waitFor()
    await page.goto(chat)
    await good.waitFor()

    // A press while the platform is away is kept by the gateway, which says so.
    const { control } = console.system.sandbox.agents.dify
    await control.fail('refuse')
    await reply(page, 1).getByRole('button', { name: 'Bad answer' }).click()
    await reply(page, 1).getByText('the platform could not be told').waitFor()
    await control.recover()
    await pressed(false)
    await reply(page, 1).getByRole('button', { name: 'Bad answer' }).click()
    await reply(page, 1).getByLabel('What was good or bad').waitFor({ state: 'detached' })

    // What was said elsewhere meanwhile is in the chat when the page is loaded again, once.
    await say('dify', 'goes-on', ['Good evening.'], 3)
    await page.goto(`${console.system.gateway.url}/console/conversations/${id}`)
    await messages(page).nth(5).getByText('Good evening.').waitFor()
    await page.getByRole('button', { name: 'Go on in the playground' }).click()
    await reply(page, 2).getByText('Good evening.').last().waitFor()
    expect(await page.getByRole('article').count()).toBe(3)

    // Once it is deleted, its id begins a new chat.
    await page.goto(`${console.system.gateway.url}/console/conversations/${id}`)
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click()
    await title(page, 'Conversations')
    await page.goto(chat)
    await page.getByText('Ask Dify something').waitFor()
    expect(problems).toEqual([])
  })
})
