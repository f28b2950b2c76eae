import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HAS_BROWSER } from '../support/browser.ts'
import { type ConsoleInBrowser, startConsole } from '../support/console-page.ts'

// A browser, because a form must be found again after a reload, and a second click must be one on what is drawn.

describe.runIf(HAS_BROWSER)('questions of agents in the playground', () => {
  let console: ConsoleInBrowser

  beforeAll(async () => {
    console = await startConsole({
      agents: (entries, { agents: { dify } }) => ({
        chatflow: { ...entries.dify, apiKey: dify.keys.chatflow2026 },
      }),
    })
  })
  afterAll(() => console?.remove())

  const reply = (page: Page, number: number) => page.getByRole('article').nth(number)
  const ended = (page: Page, number: number) => reply(page, number).getByText('Total time').waitFor()
  const question = (page: Page) => page.getByRole('form', { name: 'The agent waits for your answer' })
  const ask = async (page: Page, text: string) => {
    await page.getByRole('textbox', { name: 'Message', exact: true }).fill(text)
    await page.keyboard.press('Enter')
  }
  const callsOf = async (filter: string) => {
    const { api, token } = console.system
    const { body } = await api.call('GET', `/api/v1/calls?${filter}`, { token })
    return body.data.items as { id: string; paused: boolean; answers: string | null; conversation: string }[]
  }

  test('a question is answered by one click, also after a reload and a double click, and its calls lead to each other', async () => {
    const { page, logIn, problems, violations } = await console.visit('/playground/fastgpt')
    // The agents of an installation without a configuration are emulators; the ones of tests are not.
    await page.route('**/graphql', async (route) => {
      const response = await route.fetch()
      const body = (await response.json()) as { data?: { agents?: object[] } }
      for (const agent of body.data?.agents ?? []) Object.assign(agent, { sandbox: true })
      await route.fulfill({ response, json: body })
    })
    await logIn()
    await page.getByRole('button', { name: 'A question with buttons' }).click()
    await question(page).waitFor()
    await page.reload()
    const buttons = question(page).getByRole('button')
    await buttons.first().waitFor()
    expect(await violations()).toEqual([])
    const title = (await buttons.first().textContent()) ?? ''
    await buttons.first().dblclick()
    await ended(page, 1)
    expect(await reply(page, 1).getByText(title, { exact: true }).count()).toBe(1)
    expect(await page.getByRole('article').count()).toBe(2)
    expect(await question(page).count()).toBe(0)
    await ask(page, 'sandbox:echo and on')
    await ended(page, 2)
    await page.reload()
    await page.getByText('and on', { exact: true }).last().waitFor()
    expect(await question(page).count()).toBe(0)

    const calls = await callsOf('agent=fastgpt')
    const [, answering, asking] = calls
    expect(calls.map(({ paused, answers }) => [paused, answers])).toEqual([
      [false, null],
      [false, asking?.id],
      [true, null],
    ])
    await page.goto(page.url().replace(/playground.*/, 'calls?paused=true'))
    await page.getByRole('heading', { level: 2, name: '1 call' }).waitFor()
    expect(await violations()).toEqual([])
    const row = page.getByRole('row').filter({ hasText: 'Paused with a question' })
    await row.getByRole('link').click()
    await page.getByText('Another call has answered it').waitFor()
    expect(await violations()).toEqual([])
    await page.getByRole('link', { name: answering?.id ?? '' }).click()
    await page.getByText('Answers the question of').waitFor()
    await page.getByRole('link', { name: asking?.id ?? '' }).click()
    await page.getByText('Another call has answered it').waitFor()
    expect(problems).toEqual([])
  })

  test('what a form lacks is said at its field, and what was written is still there', async () => {
    const { page, logIn, problems, violations } = await console.visit('/playground/fastgpt')
    await logIn()
    await page.getByLabel('App id').fill('app-1')
    await ask(page, 'sandbox:interactive=form')
    const form = question(page)
    await form.getByLabel('天数').fill('3')
    await form.locator('button[type=submit]').click()
    await form.getByRole('alert').getByText('answer_required').waitFor()
    expect(await form.getByLabel('姓名').getAttribute('aria-invalid')).toBe('true')
    expect(await form.getByLabel('天数').inputValue()).toBe('3')
    expect(await page.getByRole('article').count()).toBe(1)
    expect(await violations()).toEqual([])
    expect(problems).toEqual([])
  })

  test('a form is filled in, and the answer is the message of the user', async () => {
    const { page, logIn, problems, violations } = await console.visit('/playground/chatflow')
    await logIn()
    await ask(page, 'sandbox:interactive=form')
    const form = question(page)
    await form.getByText(/It can be answered until .* \(in 3[56] hours\)/).waitFor()
    expect(await violations()).toEqual([])
    await form.getByLabel('comment').fill('Two\nlines')
    await form.getByLabel('priority').selectOption('high')
    const file = (name: string) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(name) })
    await form.locator('input[type=file]').first().setInputFiles(file('one.txt'))
    await expect
      .poll(() => form.getByLabel('attachment (optional)', { exact: true }).inputValue())
      .toContain('/one.txt')
    await form.locator('input[type=file]').last().setInputFiles(file('two.txt'))
    await expect
      .poll(() => form.getByLabel('evidence (optional)', { exact: true }).inputValue())
      .toContain('/two.txt')
    await form.getByRole('button', { name: 'Approve' }).click()
    await ended(page, 1)
    const answer = reply(page, 1).getByText('Approve\ncomment: Two\nlines\npriority: high')
    expect(await answer.textContent()).toMatch(/attachment: http.*\nevidence: http/)
    await reply(page, 1).getByText('one.txt').first().waitFor()
    expect(await form.count()).toBe(0)
    expect(problems).toEqual([])
  })

  test('a text that is no answer is given back, a question that was answered elsewhere says so, and one can be given up', async () => {
    const { page, logIn, problems, violations } = await console.visit('/playground/chatflow')
    await logIn()
    await ask(page, 'sandbox:interactive')
    const form = question(page)
    await form.waitFor()
    await ask(page, 'perhaps')
    await form.getByRole('alert').getByText('answer_required').waitFor()
    const message = page.getByRole('textbox', { name: 'Message', exact: true })
    await expect.poll(() => message.inputValue()).toBe('perhaps')
    expect(await page.getByRole('article').count()).toBe(1)

    const [asking] = await callsOf('agent=chatflow&paused=true')
    const { api, key } = console.system
    const elsewhere = await api.chat(key, 'chatflow', {
      answer: { pause: asking?.id, cancel: true },
      query: '',
      chat_id: asking?.conversation,
    })
    expect(elsewhere.status).toBe(200)
    await elsewhere.text()
    await form.getByRole('button', { name: 'Approve' }).click()
    await form.getByRole('alert').getByText('pause_over').waitFor()
    expect(await form.getByRole('button', { name: 'Approve' }).isDisabled()).toBe(true)
    expect(await form.getByRole('button', { name: 'Give the question up' }).count()).toBe(0)
    expect(await violations()).toEqual([])
    await page.reload()
    await reply(page, 0).getByRole('button', { name: 'Copy as code' }).waitFor()
    expect(await form.count()).toBe(0)

    await ask(page, 'sandbox:interactive')
    await form.getByText('(in 3').waitFor()
    await form.getByRole('button', { name: 'Give the question up' }).click()
    await reply(page, 2).getByText('Gave the question up').waitFor()
    await ended(page, 2)
    await ask(page, 'sandbox:interactive=expired')
    await form.getByText(/It could be answered until .* ago\)/).waitFor()
    expect(await form.getByRole('button', { name: 'Approve' }).isDisabled()).toBe(true)
    expect(problems).toEqual([])
  })
})
