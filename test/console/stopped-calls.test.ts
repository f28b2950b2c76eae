import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HAS_BROWSER } from '../support/browser.ts'
import { joinConsole, type SharedConsole } from '../support/console-page.ts'
import { readerOf } from '../support/stream.ts'

// A browser, because a row of the list takes the clicks of what is inside it, and its page follows a call until it has ended.

describe.runIf(HAS_BROWSER)('calls that are stopped in the console', () => {
  let console: SharedConsole

  beforeAll(async () => {
    console = await joinConsole('stopford')
  })
  afterAll(() => console?.remove())

  /** Begins a call whose reply never ends; `ended` has the whole stream. */
  async function begin(key = console.system.key) {
    const more = { stream: true, query: 'sandbox:silence Hello', chat_id: '' }
    const response = await console.system.api.chat(key, 'dify', more)
    const reader = readerOf(response)
    await reader.until(/Hello/)
    return { id: response.headers.get('x-call-id') ?? '', ended: reader.rest() }
  }

  const dialog = (page: Page) => page.getByRole('dialog', { name: 'Stop this call?' })
  const stop = (within: Page | Locator) => within.getByRole('button', { name: 'Stop', exact: true })

  test('the page of a running call shows how long it takes, stops it after a question, and then how it ended', async () => {
    const { id, ended } = await begin()
    const { page, problems } = await console.open(`/calls/${id}`)
    const times = page.getByRole('region', { name: 'Where the time went' })
    const elapsed = async () => (await times.getByRole('timer').textContent()) ?? ''
    const first = await elapsed()
    expect(first).toMatch(/^\d+ (ms|sec)$/)
    await expect.poll(elapsed).not.toBe(first)

    await stop(page).click()
    await dialog(page).getByRole('button', { name: 'Cancel' }).click()
    await dialog(page).waitFor({ state: 'detached' })
    await page.getByText('The agent is still answering.').waitFor()

    await stop(page).click()
    await stop(dialog(page)).click()
    // Until the call has ended it cannot be pressed again.
    await dialog(page).getByRole('button', { name: 'Stop', disabled: true }).waitFor()
    await page.getByText('The call was stopped.').first().waitFor()
    await dialog(page).waitFor({ state: 'detached' })
    await page.getByRole('region', { name: 'What happened' }).getByText('Rejected').waitFor()
    expect(await page.getByRole('timer').count()).toBe(0)
    expect(await stop(page).count()).toBe(0)
    expect(await ended).toContain('"code":"stopped"')
    expect(problems).toEqual([])
  })

  test('the list stops a call without leading to its page, and says if it was over before', async () => {
    const { api, token } = console.system
    const [first, second] = [await begin(), await begin()]
    const { page } = await console.open(`/calls?outcome=RUNNING&user=${console.system.adminId}`)
    const rowOf = (id: string) =>
      page.getByRole('row').filter({ has: page.locator(`a[href$="/calls/${id}"]`) })
    await rowOf(first.id).getByRole('timer').waitFor()
    await stop(rowOf(first.id)).click()
    await dialog(page).getByText('The run is stopped at the platform').click()
    await dialog(page).getByRole('button', { name: 'Stop', exact: true }).click()
    await page.getByText('The call was stopped.').waitFor()
    expect(await first.ended).toContain('"code":"stopped"')
    await rowOf(first.id).waitFor({ state: 'detached' })
    expect(new URL(page.url()).pathname).toMatch(/\/calls$/)

    await stop(rowOf(second.id)).click()
    await api.call('POST', `/api/v1/calls/${second.id}/stop`, { token })
    await second.ended
    await expect
      .poll(async () => {
        const { body } = await api.call('POST', `/api/v1/calls/${second.id}/stop`, { token })
        return body.data.outcome
      })
      .toBe('rejected')
    await dialog(page).getByRole('button', { name: 'Stop', exact: true }).click()
    await page.getByText('The call was over before it could be stopped.').waitFor()
    await page.getByText('No calls found').waitFor()
  })

  test('users stop the calls of their own keys, in their language', async () => {
    const { api, token } = console.system
    const user = await api.createUser(token, 'stopping-mei', { role: 'premium' })
    const { full_key } = await api.createKey(token, { name: 'key of mei', owner_id: user.id })
    const { id, ended } = await begin(full_key)
    const { page } = await console.open(`/calls/${id}`, user, { locale: 'zh-CN' })
    await page.getByRole('button', { name: '停止', exact: true }).click()
    const question = page.getByRole('dialog', { name: '停止此调用？' })
    await question.getByRole('button', { name: '停止', exact: true }).click()
    await page.getByText('调用已停止。').waitFor()
    expect(await ended).toContain('"code":"stopped"')
  })
})
