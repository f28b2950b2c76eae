import type { Locator } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HAS_BROWSER } from '../support/browser.ts'
import { type ConsolePage, joinConsole, type SharedConsole } from '../support/console-page.ts'
import { graphql } from '../support/graphql.ts'
import { readerOf } from '../support/stream.ts'

// A browser, because what is counted here are the actions of a person, from the overview to the answer.

const ACTIONS_MAX = 3

/** What a person does on a page. It fails with the first action that is one too many. */
class Actions {
  readonly #page: ConsolePage['page']
  #count = 0

  constructor({ page }: ConsolePage) {
    this.#page = page
  }

  click(what: Locator) {
    return this.#act(() => what.click())
  }

  /** Types a text into the search of every page, and takes what it finds: `found`, or what is found first. */
  search(text: string, found?: string | RegExp) {
    return this.#act(async () => {
      const field = this.#page.getByRole('combobox', { name: 'Search everything' })
      await field.fill(text)
      if (found === undefined) await field.press('Enter')
      else await this.#page.getByRole('option', { name: found }).click()
    })
  }

  write(field: Locator, text: string, seen?: Locator) {
    return this.#act(async () => {
      await field.fill(text)
      await seen?.waitFor()
      await field.press('Enter')
    })
  }

  chooseFile(name: string, text: string) {
    const file = { name, mimeType: 'text/plain', buffer: Buffer.from(text) }
    return this.#act(() => this.#page.locator('input[type=file]').setInputFiles(file))
  }

  async #act(run: () => Promise<void>): Promise<void> {
    this.#count += 1
    expect(this.#count).toBeLessThanOrEqual(ACTIONS_MAX)
    await run()
  }
}

describe.runIf(HAS_BROWSER)('what is done every day takes at most three actions from the overview', () => {
  let console: SharedConsole
  let desk: { id: string; full_key: string }

  beforeAll(async () => {
    console = await joinConsole('daisy')
    const { api, token } = console.system
    desk = await api.createKey(token, { name: 'Support desk' })
    for (let calls = 0; calls < 3; calls += 1) await (await api.chat(desk.full_key, 'dify')).text()
  })
  afterAll(() => console?.remove())

  /** The overview after a login. */
  async function begin() {
    const visit = await console.open('/')
    await visit.page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    const menu = (name: string) => visit.page.getByRole('navigation').getByRole('link', { name, exact: true })
    return { ...visit, menu, actions: new Actions(visit) }
  }

  test('the id of a refused request leads to why it was refused and what to do', async () => {
    const { api, token, gateway } = console.system
    const narrow = await api.createKey(token, { allowed_agents: ['dify'] })
    await api.chat(narrow.full_key, 'coze', {}, { headers: { 'x-request-id': 'day-refused' } })
    // Refusals are written every few seconds.
    const written = async () =>
      (await graphql(gateway, '{ refusal(requestId: "day-refused") { id } }', { as: token })).data?.refusal
    await expect.poll(written, { interval: 500, timeout: 30_000 }).not.toBeNull()
    const { page, actions } = await begin()
    await actions.search('day-refused')
    await page.getByText('Use a key that may call this agent').waitFor()
  })

  test('the overview leads to how much each key used this week beside last week', async () => {
    const { page, actions } = await begin()
    await actions.click(page.getByRole('link', { name: 'This week against last week, by key' }))
    const row = page.getByRole('table', { name: 'The totals' }).getByRole('row', { name: /Support desk/ })
    expect(await row.textContent()).toMatch(/3/)
    // Nobody called in the week before, which is said once and not beside each number.
    await page.getByText('no calls in the period before').waitFor()
  })

  test('the name of a key leads to its limits and to code that uses it', async () => {
    const { page, actions } = await begin()
    await actions.search('support desk')
    const code = page.getByRole('region', { name: 'Code', exact: true })
    await code.getByText('Bearer tl_your_api_key').waitFor()
    await page.getByText("a minute, the gateway's limit").first().waitFor()
    await page.getByText('All keys of daisy share this quota.').waitFor()
    await page.getByRole('img', { name: 'Calls of the last 30 days' }).waitFor()
    await actions.click(code.getByRole('button', { name: 'Python' }))
    await code.getByText('from openai import OpenAI').waitFor()
  })

  test('a run is stopped from the list of calls', async () => {
    const more = { stream: true, query: 'sandbox:silence Hello' }
    const response = await console.system.api.chat(desk.full_key, 'dify', more)
    const reader = readerOf(response)
    await reader.until(/Hello/)
    const { page, actions, menu } = await begin()
    await actions.click(menu('Calls'))
    const id = response.headers.get('x-call-id') ?? ''
    const row = page.getByRole('row').filter({ has: page.locator(`a[href$="/calls/${id}"]`) })
    await actions.click(row.getByRole('button', { name: 'Stop', exact: true }))
    await actions.click(page.getByRole('dialog').getByRole('button', { name: 'Stop', exact: true }))
    expect(await reader.rest()).toContain('"code":"stopped"')
  })

  test('the id of a broken answer leads to what happened, what the platform said and what to do', async () => {
    const { api } = console.system
    const broken = await api.chat(desk.full_key, 'dify', { stream: true, query: 'sandbox:error-midstream' })
    await broken.text()
    const { page, actions } = await begin()
    await actions.search(broken.headers.get('x-request-id') ?? '')
    const happened = page.getByRole('region', { name: 'What happened' })
    await happened.getByText('The agent platform failed.').waitFor()
    await happened.getByText('Repeat the request. If it fails again').waitFor()
    await page.getByRole('table', { name: 'Attempts' }).getByText('Platform failed').waitFor()
  })

  test('the audit log says at once who changed a role', async () => {
    const { api, token } = console.system
    const { id } = await api.createUser(token, 'mei-of-the-day', { role: 'user' })
    await api.call('PATCH', `/api/v1/users/${id}`, { token, body: { role: 'premium' } })
    const { page, actions, menu } = await begin()
    await actions.click(menu('Audit'))
    const row = page.getByRole('row').filter({ hasText: 'mei-of-the-day' }).first()
    expect(await row.textContent()).toMatch(/Change a user.*daisy.*user → premium/)
  })

  test('a file is sent with a question, and the sources of the answer are open', async () => {
    const { page, actions } = await begin()
    await actions.search('dify', 'Ask Dify')
    await actions.chooseFile('note.txt', 'Rooms are booked at the desk.')
    // It can be sent once the file was uploaded.
    const send = page.getByRole('button', { name: 'Send', exact: true, disabled: false })
    await actions.write(
      page.getByRole('textbox', { name: 'Message', exact: true }),
      'Where are rooms booked?',
      send,
    )
    await page.getByRole('list', { name: 'What the agent did' }).getByText('guide.md').waitFor()
    await page.getByRole('article').getByText('note.txt').first().waitFor()
  })

  test('the id of a conversation leads to its calls', async () => {
    const { api } = console.system
    const first = await api.chat(desk.full_key, 'dify', { chat_id: '' })
    await first.text()
    const conversation = first.headers.get('x-conversation-id') ?? ''
    await (await api.chat(desk.full_key, 'dify', { chat_id: conversation })).text()
    const { page, actions } = await begin()
    await actions.search(conversation)
    await page.getByRole('heading', { level: 2, name: '2 calls' }).waitFor()
  })
})
