import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HAS_BROWSER } from '../support/browser.ts'
import { joinConsole, type SharedConsole } from '../support/console-page.ts'

// A browser, because what an administrator reads of the log, and where its links lead, exists only in the page.

describe.runIf(HAS_BROWSER)('the audit log in the console', () => {
  let console: SharedConsole

  beforeAll(async () => {
    console = await joinConsole('audrey')
  })
  afterAll(() => console?.remove())

  const rows = (page: Page) =>
    page.getByRole('row').filter({ has: page.getByRole('rowheader').getByRole('link') })

  test('says who changed what of a user, field by field, and leads to the user', async () => {
    const { api, token } = console.system
    const user = await api.createUser(token, 'changed-mei', { role: 'user' })
    const headers = { 'x-request-id': 'audit-change-42' }
    const body = { role: 'premium' }
    await api.call('PATCH', `/api/v1/users/${user.id}`, { token, headers, body })
    const { page, problems } = await console.open('/audit')
    await page.getByLabel('Target id').fill(user.id)
    await page.getByLabel('Target id').press('Enter')
    await page.getByRole('heading', { level: 2, name: '2 events' }).waitFor()
    await page.getByLabel('Operation', { exact: true }).selectOption({ label: 'Change a user' })
    await page.getByRole('heading', { level: 2, name: '1 event' }).waitFor()
    expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({
      operation: 'users.update',
      targetId: user.id,
    })
    const cells = await rows(page).getByRole('cell').allTextContents()
    expect(cells).toEqual(expect.arrayContaining(['Userchanged-mei', 'role user → premium']))

    const downloaded = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Save as CSV' }).click()
    const file = await readFile(await (await downloaded).path(), 'utf8')
    expect(file.trim().split('\n')).toHaveLength(2)
    expect(file).toContain('audit-change-42')

    await rows(page).getByRole('rowheader').getByRole('link').click()
    await page.getByRole('heading', { level: 1, name: 'Change a user' }).waitFor()
    const change = page.getByRole('table', { name: 'Each field' })
    const changed = change.getByRole('row', { name: /^role has changed/ })
    expect(await changed.getByRole('cell').allTextContents()).toEqual(['user', 'premium'])
    const who = page.getByRole('region', { name: 'Who' })
    await who.getByText('audit-change-42').waitFor()
    await who.getByRole('link', { name: 'audrey' }).waitFor()
    await page.getByRole('region', { name: 'What was done' }).getByRole('link').click()
    await page.getByRole('heading', { level: 1, name: 'changed-mei' }).waitFor()
    expect(problems).toEqual([])
  })

  test('a number that there is no event of, and a user who is no administrator, are told so', async () => {
    const { api, token } = console.system
    const user = await api.createUser(token, 'not-of-the-audit')
    const { page } = await console.open('/audit/900000')
    await page.getByText('There is no such event').waitFor()
    const { page: other } = await console.open('/audit', user)
    await other.getByText('Only administrators see the audit log.').waitFor()
  })
})
