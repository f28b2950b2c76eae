import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { messages } from '../../apps/console/messages/en.ts'
import { HAS_BROWSER } from '../support/browser.ts'
import { type ConsoleInBrowser, startConsole } from '../support/console-page.ts'
import { CLOSED_PORT } from '../support/free-port.ts'

// A browser, because what a reader learns of a deployment depends on the role and the time zone in which the page is shown.

const { title } = messages.agents.deployments
const ONE_PROCESS = /^1 process$/

describe.runIf(HAS_BROWSER)('the page of the agents', () => {
  let console: ConsoleInBrowser

  beforeAll(async () => {
    const away = ({ dify }: Readonly<Record<string, object>>) => ({
      away: { ...dify, name: 'Away', baseUrl: `http://127.0.0.1:${CLOSED_PORT}` },
    })
    console = await startConsole({ agents: away })
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

  test('does not say of a deployment that it is in use without trouble while no probe is answered', async () => {
    const { page, logIn, violations } = await console.visit('/agents')
    await logIn()
    const card = page.getByRole('listitem', { name: 'Away', exact: true })
    const deployments = card.getByRole('list', { name: title, exact: true })
    await deployments.getByText(ONE_PROCESS).click()
    await deployments.getByRole('table').waitFor()
    const text = await deployments.textContent()
    expect(text).toMatch(
      /main.*No answer.*Still gets calls.*No probe has been answered since .*Calls are still/,
    )
    expect(text).not.toContain('In use')
    expect(await violations()).toEqual([])
  })

  test('says since when and why an agent cannot serve calls, also to others than administrators', async () => {
    const { api, token } = console.system
    const { username, password } = await api.createUser(token, 'grace')
    const { page, logIn, violations } = await console.visit('/agents', { timezoneId: 'Asia/Shanghai' })
    await logIn(username, password)
    const card = page.getByRole('listitem', { name: 'Away', exact: true })
    await card.getByText('Unavailable', { exact: true }).waitFor()
    const text = await card.textContent()
    expect(text).toMatch(/Since .*\d, \d+:\d+:\d+ [AP]M GMT\+8/)
    expect(text).toContain('The agent platform did not answer. agent_unreachable')
    expect(await violations()).toEqual([])
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
