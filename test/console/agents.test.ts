import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { messages } from '../../apps/console/messages/en.ts'
import { HAS_BROWSER } from '../support/browser.ts'
import { type ConsoleInBrowser, startConsole } from '../support/console-page.ts'

const { title } = messages.agents.deployments
const ONE_PROCESS = /^1 process$/

describe.runIf(HAS_BROWSER)('the page of the agents', () => {
  let console: ConsoleInBrowser

  beforeAll(async () => {
    console = await startConsole()
  })
  afterAll(() => console?.remove())

  test('shows an administrator each deployment with its load, and the processes on demand', async () => {
    const { page, logIn, problems } = await console.visit('/agents')
    await logIn()
    const card = page.getByRole('listitem', { name: 'Dify', exact: true })
    const deployments = card.getByRole('list', { name: title, exact: true })
    await deployments.waitFor()
    const text = await deployments.textContent()
    expect(text).toMatch(/main.*Answers.*In use.*0 calls in progress/)
    await deployments.getByText(ONE_PROCESS).click()
    const row = deployments.getByRole('table').getByRole('row').nth(1)
    expect(await row.textContent()).toContain(String(console.system.gateway.pid))
    expect(problems).toEqual([])
  })

  test('shows others the status of each agent alone', async () => {
    const { api, token } = console.system
    const { username, password } = await api.createUser(token, 'ada')
    const { page, logIn, problems } = await console.visit('/agents')
    await logIn(username, password)
    const card = page.getByRole('listitem', { name: 'Dify', exact: true })
    await card.getByText('Available', { exact: true }).waitFor()
    expect(await card.getByText(title, { exact: true }).count()).toBe(0)
    expect(problems).toEqual([])
  })
})
