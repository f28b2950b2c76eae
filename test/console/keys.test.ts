import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HAS_BROWSER } from '../support/browser.ts'
import { joinConsole, type SharedConsole } from '../support/console-page.ts'

// A browser, because the key that is used here is the one in its clipboard, and the code is what the page shows beside it.

const run = promisify(execFile)

/** Runs code that the page shows: a command of a shell, or a module beside the packages that it imports. */
async function paste(kind: string, code: string): Promise<string> {
  const cwd = join(import.meta.dirname, '..')
  // The SDK of the workspace is not built.
  const node = ['--conditions=@trunkline/source', '--input-type=module', '--eval', code]
  const { stdout } =
    kind === 'curl' ? await run('sh', ['-c', code], { cwd }) : await run(process.execPath, node, { cwd })
  return stdout
}

describe.runIf(HAS_BROWSER)('API keys in the console', () => {
  let console: SharedConsole

  beforeAll(async () => {
    console = await joinConsole('keyes')
  })
  afterAll(() => console?.remove())

  const row = (page: Page, name: string) => page.getByRole('row').filter({ hasText: name })
  // Its name distinguishes it from the messages at the edge of the page, which are dialogs as well.
  const dialog = (page: Page, name: string) => page.getByRole('dialog', { name })
  const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()

  async function openKeys(path = '/keys') {
    const visit = await console.open(path)
    await visit.page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await visit.page.getByRole('heading', { level: 1 }).waitFor()
    return visit
  }

  test('a new key is checked, shown once, not lost by accident, and the code beside it works', async () => {
    const { page, problems } = await openKeys()
    await page.getByRole('link', { name: 'New key' }).click()
    await page.getByLabel('Name', { exact: true }).waitFor()
    await page.getByLabel('Only these').check()
    await press(page, 'Create key')
    await page.getByText('Fill this in.').waitFor()
    await page.getByText('Choose at least one agent.').waitFor()

    await page.getByLabel('Name', { exact: true }).fill('help desk')
    await page.getByLabel('Description').fill('Answers on the help page.')
    await page.getByLabel('Dify').check()
    await dialog(page, 'New API key')
      .getByLabel('Expires', { exact: true })
      .selectOption({ label: 'In 30 days' })
    await page.getByLabel('Chats a minute').fill('0')
    await press(page, 'Create key')
    // The gateway refuses it, and what was typed stays.
    await dialog(page, 'New API key').getByRole('alert').getByText('invalid_request').waitFor()
    expect(await page.getByLabel('Description').inputValue()).toBe('Answers on the help page.')
    await page.getByLabel('Chats a minute').fill('30')
    await press(page, 'Create key')

    const shown = dialog(page, 'is ready')
      .getByRole('region', { name: 'API key', exact: true })
      .locator('code')
    const key = (await shown.textContent()) ?? ''
    expect(key).toMatch(/^tl_/)
    await page.keyboard.press('Escape')
    await page.mouse.click(2, 2)
    await page.evaluate(() => history.back())
    // The page has handled all of these once it answers again.
    await press(page, 'Copy the key')
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(key)
    expect(await shown.textContent()).toBe(key)

    for (const kind of ['curl', 'TypeScript', 'Trunkline SDK']) {
      await press(page, kind)
      const code = await page.getByRole('group', { name: kind }).locator('code').textContent()
      expect(code).toContain(key)
      // curl prints the frames of the stream as they are.
      expect(await paste(kind, code ?? '')).toContain(kind === 'curl' ? '[DONE]' : 'Hello! Who are you?')
    }
    await press(page, 'I have stored the key')
    await dialog(page, 'is ready').waitFor({ state: 'hidden' })
    expect(await page.content()).not.toContain(key)
    expect(new URL(page.url()).search).toBe('')
    await page.reload()
    const cells = row(page, 'help desk').getByRole('cell')
    await cells.filter({ hasText: 'Active' }).waitFor()
    // Today, this month and in all, after the state, the expiry and the owner.
    expect((await cells.allTextContents()).slice(3, 6)).toEqual(['3', '3', '3'])
    expect(problems).toEqual([])
  })

  test('a key is changed, a counter is set to zero, and a revoked key is refused at once', async () => {
    const { api, token } = console.system
    const { id, full_key } = await api.createKey(token, { name: 'worker', description: 'Works.' })
    expect((await api.chat(full_key, 'dify')).status).toBe(200)
    const { page } = await openKeys(`/keys/${id}`)
    await page.getByRole('heading', { level: 1, name: 'worker' }).waitFor()
    await press(page, 'Change')
    await page.getByLabel('Name', { exact: true }).fill('worker 2')
    await page.getByLabel('Only these').check()
    await page.getByLabel('Dify').check()
    await page.getByLabel('Coze').check()
    await page.getByLabel('Expires', { exact: true }).selectOption({ label: 'On a date' })
    await page.getByLabel('Last day').fill('2030-01-31')
    await press(page, 'Save')
    await page.getByRole('heading', { level: 1, name: 'worker 2' }).waitFor()
    await page.getByText('Dify, Coze').waitFor()
    const { body: changed } = await api.call('GET', `/api/v1/api-keys/${id}`, { token })
    expect(changed.data.expires_at).toMatch(/^2030-0(?:1-30|1-31|2-01)T/)
    const facts = page.getByRole('region', { name: 'About this key' })
    // What it may do comes first, and what was last done to it.
    expect((await facts.getByRole('term').allTextContents()).slice(0, 3)).toEqual([
      ...['Chats', 'Calls of the owner', 'Last change'],
    ])
    await facts.getByRole('link', { name: 'Change a key' }).waitFor()
    expect(await facts.getByRole('link', { name: 'All changes' }).getAttribute('href')).toContain(
      `/audit?target=api_key&targetId=${id}`,
    )

    await press(page, 'Reset: Total')
    await dialog(page, 'to zero?').getByText('keep every call').waitFor()
    await dialog(page, 'to zero?').getByRole('button', { name: 'Reset' }).click()
    await dialog(page, 'to zero?').waitFor({ state: 'hidden' })
    await page.getByRole('button', { name: 'Reset: Total', disabled: true }).waitFor()
    expect(await page.getByRole('button', { name: 'Reset: Today' }).isEnabled()).toBe(true)
    await page.getByText('The counter was set to zero.').first().waitFor({ state: 'detached' })

    await press(page, 'Revoke')
    await dialog(page, 'Revoke').getByText('Every program that uses this key is refused').waitFor()
    await press(page, 'Cancel')
    expect((await api.chat(full_key, 'dify')).status).toBe(200)
    await press(page, 'Revoke')
    await dialog(page, 'Revoke').getByRole('button', { name: 'Revoke' }).click()
    await page.getByText('Revoked on').waitFor()
    expect((await api.chat(full_key, 'dify')).status).toBe(401)

    await page.getByRole('link', { name: 'API keys' }).click()
    await row(page, 'tl_').first().waitFor()
    expect(await row(page, 'worker 2').count()).toBe(0)
    await press(page, 'All')
    await row(page, 'worker 2').getByText('Revoked').waitFor()
    await page.reload()
    await row(page, 'worker 2').waitFor()
  })

  test('a key is rotated with an overlap in which both secrets chat, its old one is ended, and the key is paused and resumed', async () => {
    const { api, token } = console.system
    const { id, full_key: old } = await api.createKey(token, { name: 'long lived' })
    const statuses = async (...keys: string[]) =>
      Promise.all(keys.map(async (key) => (await api.chat(key, 'dify')).status))
    expect(await statuses(old)).toEqual([200])
    const { page, problems } = await openKeys(`/keys/${id}`)
    await press(page, 'Rotate')
    const asked = dialog(page, 'Rotate “long lived”')
    const overlap = asked.getByLabel('The old secret can be used')
    await asked.getByLabel('Yes, or I am not sure').check()
    expect(await overlap.inputValue()).toBe('now')
    await asked.getByLabel('No', { exact: true }).check()
    expect(await overlap.inputValue()).toBe('day')
    await overlap.selectOption({ label: 'For 7 days' })
    await asked.getByRole('button', { name: 'Make a new secret' }).click()
    const shown = dialog(page, 'has a new secret')
    const secret = await shown
      .getByRole('region', { name: 'API key', exact: true })
      .locator('code')
      .textContent()
    const present = secret ?? ''
    expect(await shown.getByRole('group', { name: 'curl' }).locator('code').textContent()).toContain(present)
    await press(page, 'I have stored the key')

    const secrets = page.getByRole('region', { name: 'Secrets', exact: true })
    await secrets.getByText('Nothing has used the new secret yet.').waitFor()
    const [first, second] = await secrets.getByRole('definition').allTextContents()
    expect(first).toBe(`${present.slice(0, 12)}… · last used: never · ends: with the key`)
    expect(second).toMatch(`${old.slice(0, 12)}… · last used: `)
    expect(await statuses(old, present)).toEqual([200, 200])
    await page.reload()
    await secrets.getByText('The old secret was last used').waitFor()
    expect(await page.content()).not.toContain(present)

    await press(page, 'End the old one')
    await dialog(page, 'End the secret').getByRole('button', { name: 'End the old one' }).click()
    await page.getByText('The old secret has ended.').first().waitFor()
    await dialog(page, 'End the secret').waitFor({ state: 'hidden' })
    await secrets.waitFor({ state: 'detached' })
    expect(await statuses(old, present)).toEqual([401, 200])

    const facts = page.getByRole('region', { name: 'About this key' })
    await press(page, 'Pause')
    await dialog(page, 'Pause').getByRole('button', { name: 'Pause' }).click()
    await facts.getByText('Paused', { exact: true }).waitFor()
    expect(await statuses(present)).toEqual([403])
    await press(page, 'Resume')
    await dialog(page, 'Resume').getByRole('button', { name: 'Resume' }).click()
    await facts.getByText('Active', { exact: true }).waitFor()
    expect(await statuses(present)).toEqual([200])
    expect(problems).toEqual([])
  })

  test('a pause of an administrator says why its creator cannot lift it, and a wrong address is named at its field', async () => {
    const { api, token } = console.system
    const paula = await api.createUser(token, 'paula', { role: 'premium' })
    const session = await api.login(paula.username, paula.password)
    const { id } = await api.createKey(session, { name: 'held' })
    await api.call('PATCH', `/api/v1/api-keys/${id}`, { token, body: { is_active: false } })
    const { page } = await console.open(`/keys/${id}`, paula)
    await press(page, 'Resume')
    const resume = dialog(page, 'Resume')
    await resume.getByRole('button', { name: 'Resume' }).click()
    await resume.getByRole('alert').getByText('only an administrator can lift that').waitFor()
    await press(page, 'Cancel')

    await press(page, 'Change')
    const addresses = page.getByLabel('Network addresses')
    await addresses.fill('192.0.2.0/24\nhere')
    await press(page, 'Save')
    await dialog(page, 'Change held').locator('[aria-invalid]').waitFor()
    expect(await addresses.getAttribute('aria-invalid')).toBe('true')
    await addresses.fill('192.0.2.0/24\n2001:db8::/32')
    await press(page, 'Save')
    await page.getByText('192.0.2.0/24, 2001:db8::/32').waitFor()
    expect(await page.getByText('Paused', { exact: true }).count()).toBe(1)
  })

  test('keys of the playground are hidden until they are asked for', async () => {
    const { api, token } = console.system
    const description = "Made by the console's playground"
    await api.createKey(token, { name: 'playground dify', description })
    await api.createKey(token, { name: 'playground of mine' })
    const { page } = await openKeys()
    await row(page, 'playground of mine').waitFor()
    expect(await row(page, 'playground dify').count()).toBe(0)
    await page.getByLabel('Keys of the playground').check()
    await row(page, 'playground dify').waitFor()
  })

  test('a user without the role for it cannot make or change keys, and sees and revokes the key that it was given', async () => {
    const { api, token } = console.system
    const user = await api.createUser(token, 'otto', { role: 'user' })
    const { id } = await api.createKey(token, { name: 'for otto', owner_id: user.id })
    const { page } = await console.open('/keys?new=true', user)
    await page.getByText('Your role may not make keys.').waitFor()
    expect(await page.getByRole('link', { name: 'New key' }).count()).toBe(0)
    expect(await page.getByRole('dialog').count()).toBe(0)
    await row(page, 'for otto').getByRole('link').click()
    await page.getByText('Only its maker or an administrator can change it.').waitFor()
    expect(page.url()).toContain(id)
    expect(await page.getByRole('button', { name: 'Change' }).count()).toBe(0)
    // Only administrators read the audit log.
    expect(await page.getByText('Last change').count()).toBe(0)
    await press(page, 'Revoke')
    await dialog(page, 'Revoke').getByRole('button', { name: 'Revoke' }).click()
    await page.getByText('Revoked on').waitFor()
  })
})
