import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HAS_BROWSER } from '../support/browser.ts'
import { joinConsole, type SharedConsole } from '../support/console-page.ts'

// A browser, because the forms of a user take effect on logins at a real gateway, and the list must fit a phone.

describe.runIf(HAS_BROWSER)('users in the console', () => {
  let console: SharedConsole

  beforeAll(async () => {
    console = await joinConsole('uma')
  })
  afterAll(() => console?.remove())

  const statusOfLogin = async (username: string, password: string) => {
    const { status } = await console.system.api.call('POST', '/api/v1/login', {
      body: { username, password },
    })
    return status
  }

  test('an administrator creates a user, changes it, sets its password, suspends and activates it', async () => {
    const { page, problems } = await console.open('/users')
    // Not the messages at the edge of the page, which are small dialogs too.
    const dialog = page.getByRole('dialog', { name: /^(Create|Change|Set|Suspend|Activate) / })
    const row = page.getByRole('row', { name: /^dora/ })

    await page.getByRole('button', { name: 'Create user' }).click()
    await dialog.getByRole('button', { name: 'Create user' }).click()
    expect(await dialog.getByText('Fill this in.').count()).toBe(2)
    await dialog.getByLabel('Username').fill('ADMIN')
    await dialog.getByRole('button', { name: 'Generate a password' }).click()
    const password = await dialog.getByLabel('Password', { exact: true }).inputValue()
    expect(password).toHaveLength(20)
    await dialog.getByLabel('Role').selectOption('user')
    await dialog.getByLabel('Call quota').fill('-1')
    await dialog.getByRole('button', { name: 'Create user' }).click()
    await dialog.getByText('At least 0.').waitFor()
    await dialog.getByLabel('Call quota').fill('250')
    await dialog.getByLabel('Quota period').selectOption('day')
    await dialog.getByRole('button', { name: 'Create user' }).click()
    await dialog.getByText('This username is taken.').waitFor()
    // Everything else is still there.
    await dialog.getByLabel('Username').fill('dora')
    await dialog.getByRole('button', { name: 'Create user' }).click()
    await dialog.waitFor({ state: 'detached' })
    await row.getByText('0 of 250 today').waitFor()
    expect(await statusOfLogin('dora', password)).toBe(200)

    await row.getByRole('button', { name: 'Change dora' }).click()
    await dialog.getByLabel('Role').selectOption('premium')
    await dialog.getByLabel('Call quota').fill('')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.getByText('This value is not valid.').waitFor()
    await dialog.getByLabel('Call quota').fill('1000')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await row.getByText('Premium user').waitFor()
    await row.getByText('0 of 1,000 today').waitFor()

    await row.getByRole('button', { name: 'Set the password of dora' }).click()
    await dialog.getByText('This ends every session of the user.').waitFor()
    await dialog.getByLabel('Password', { exact: true }).fill('another password')
    await dialog.getByRole('button', { name: 'Set password' }).click()
    await dialog.waitFor({ state: 'detached' })
    expect([await statusOfLogin('dora', password), await statusOfLogin('dora', 'another password')]).toEqual([
      401, 200,
    ])

    await row.getByRole('button', { name: 'Suspend dora' }).click()
    await dialog.getByText('every API key that belongs to this user is refused').waitFor()
    await dialog.getByRole('button', { name: 'Suspend' }).click()
    await row.getByText('Suspended').waitFor()
    expect(await statusOfLogin('dora', 'another password')).toBe(401)
    await row.getByRole('button', { name: 'Activate dora' }).click()
    await dialog.getByRole('button', { name: 'Activate' }).click()
    await row.getByText('Active').waitFor()
    expect(await statusOfLogin('dora', 'another password')).toBe(200)
    expect(problems).toEqual([])
  })

  test('a user has a page with what it calls and what was refused and changed, each leading to its list', async () => {
    const { api, token } = console.system
    const user = await api.createUser(token, 'henry', { role: 'premium', max_api_calls: 2 })
    const { full_key: key, id } = await api.createKey(token, { name: 'of henry', owner_id: user.id })
    const outcomes = []
    for (let call = 0; call < 3; call += 1) {
      const response = await api.chat(key, 'dify')
      await response.text()
      outcomes.push(response.status)
    }
    expect(outcomes).toEqual([200, 200, 429])
    const { page, problems } = await console.open('/users')
    await page.getByRole('link', { name: 'henry' }).click()
    await page.getByRole('heading', { level: 1, name: 'henry' }).waitFor()
    const main = page.getByRole('main')
    await main.getByText('2 of 2 in total').waitFor()
    await expect
      .poll(() => main.getByRole('table', { name: 'Recent calls of henry' }).getByText('Done').count())
      .toBe(2)
    const events = main.getByRole('table', { name: 'Audit of henry' })
    await events.getByText('Create a user').waitFor()
    await page.getByRole('button', { name: 'Change', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'Change henry' })
    await dialog.getByLabel('Call quota').fill('50')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await main.getByText('2 of 50 in total').waitFor()
    await events.getByText('Change a user').waitFor()

    const leads = async (link: string, search: string) => {
      await main.getByRole('link', { name: link, exact: true }).first().click()
      await page.waitForURL((url) => url.href.includes(search))
      await page.goBack()
      await page.getByRole('heading', { level: 1, name: 'henry' }).waitFor()
    }
    await leads('All calls', `/calls?user=${user.id}&range=all`)
    await leads('All refusals', `/refusals?user=${user.id}`)
    await leads('Usage by key', `user=${user.id}`)
    await leads('What this user did', `/audit?user=${user.id}`)
    await leads('What was done to this user', `/audit?target=user&targetId=${user.id}`)
    await leads('of henry', `/keys/${id}`)
    // What names the user leads back here.
    await main.getByRole('link', { name: 'of henry' }).click()
    await main.getByRole('link', { name: 'henry', exact: true }).click()
    await page.getByRole('heading', { level: 1, name: 'henry' }).waitFor()
    // The record of refusals is written some seconds later.
    const refusals = main.getByRole('table', { name: 'Recent refusals of henry' })
    await expect
      .poll(
        async () => {
          await page.reload()
          await main
            .getByText(/^Nothing refused/)
            .or(refusals)
            .waitFor()
          return refusals.getByText('quota_exceeded').count()
        },
        { timeout: 30_000 },
      )
      .toBe(1)
    await page.goto(`${console.system.gateway.url}/console/users/019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10`)
    await page
      .getByText('This user does not exist.')
      .or(page.getByText('There is nothing with this id'))
      .waitFor()
    expect(problems).toEqual([])
  })

  test('others are told that only administrators see the users', async () => {
    const { api, token } = console.system
    const erin = await api.createUser(token, 'erin', { role: 'premium' })
    const { page } = await console.open('/users', erin)
    await page.getByText('Only administrators see the users.').waitFor()
    await page.goto(`${page.url()}/019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10`)
    await page.getByText('Only administrators see the users.').waitFor()
    expect(await page.getByRole('link', { name: 'Users' }).count()).toBe(0)
  })
})
