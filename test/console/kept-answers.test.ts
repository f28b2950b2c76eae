import type { ApiKey } from '@trunkline/sdk'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HAS_BROWSER } from '../support/browser.ts'
import { type ConsoleInBrowser, startConsole } from '../support/console-page.ts'

// A browser, because a reload must find the answer again in its storage, and the gateway must be killed under it.

/** A reply that takes some seconds, of numbered fragments: `1 网关 2 网关 …`. */
const SLOW = 'sandbox:slow=20 sandbox:long=300 Hello'
const ALL = Array.from({ length: 300 }, (_, index) => index + 1)

describe.runIf(HAS_BROWSER)('answers of the playground that are kept', () => {
  let console: ConsoleInBrowser

  beforeAll(async () => {
    const env: Record<string, string> = {}
    // The death of a process is soon known.
    console = await startConsole({ env, settings: { instance: { leaseMs: 600 } } })
    // After a restart, pages find the gateway at the same address.
    env.PORT = new URL(console.system.gateway.url).port
  })
  afterAll(() => console?.remove())

  const keysOf = async (agent: string) => {
    const { api, token } = console.system
    const { body } = await api.call('GET', '/api/v1/api-keys?limit=100', { token })
    return (body.data.items as ApiKey[]).filter(({ name }) => name === `playground ${agent}`)
  }
  const callsOf = async (agent: string) => {
    const { api, token } = console.system
    const { body } = await api.call('GET', `/api/v1/calls?limit=100&agent=${agent}`, { token })
    return body.data.items as { outcome: string | null; reason: string | null }[]
  }
  const reply = (page: Page, number: number) => page.getByRole('article').nth(number)
  const ask = async (page: Page, text: string) => {
    await page.getByRole('textbox', { name: 'Message', exact: true }).fill(text)
    await page.keyboard.press('Enter')
  }
  const ended = (page: Page, number: number) =>
    reply(page, number).getByRole('button', { name: 'Copy as code' }).waitFor()
  /** The numbers of the fragments that a reply shows. */
  const fragments = async (page: Page, number: number) => {
    const text = (await reply(page, number).textContent()) ?? ''
    return [...text.matchAll(/(\d+) 网关/g)].map(([, shown]) => Number(shown))
  }

  test('an answer goes on by itself after reloads in its middle, is whole, and was one call with one key', async () => {
    const { page, logIn, problems, violations } = await console.visit('/agents/openai')
    await logIn()
    await ask(page, SLOW)
    for (const seen of ['40 网关', '120 网关']) {
      await reply(page, 0).getByText(seen).waitFor()
      await page.reload()
    }
    await reply(page, 0).getByText('300 网关').waitFor()
    await ended(page, 0)
    expect(await fragments(page, 0)).toEqual(ALL)
    expect(await page.getByRole('article').count()).toBe(1)
    expect(await violations()).toEqual([])

    await ask(page, 'sandbox:echo the conversation goes on')
    await ended(page, 1)
    await page.reload()
    await ended(page, 1)
    expect(await fragments(page, 0)).toEqual(ALL)
    expect((await keysOf('openai')).map(({ is_active }) => is_active)).toEqual([true])
    await expect
      .poll(async () => (await callsOf('openai')).map(({ outcome }) => outcome))
      .toEqual(['done', 'done'])
    expect(problems).toEqual([])
  })

  test('an answer goes on while other pages are shown, and its details with it', async () => {
    const { page, logIn, problems } = await console.visit('/agents/fastgpt?app=demo')
    await logIn()
    await ask(page, SLOW)
    await reply(page, 0).getByText('20 网关').waitFor()
    await page.getByTitle('Account').click()
    await page.getByLabel('Current password').waitFor()
    await page.goBack()
    await reply(page, 0).getByText('60 网关').waitFor()
    await page.reload()
    await reply(page, 0).getByText('300 网关').waitFor()
    await ended(page, 0)
    expect(await fragments(page, 0)).toEqual(ALL)
    const steps = reply(page, 0).getByRole('list', { name: 'What the agent did' })
    expect(await steps.getByText('Node').count()).toBeGreaterThan(0)
    expect(await callsOf('fastgpt')).toMatchObject([{ outcome: 'done' }])
    expect(problems).toEqual([])
  })

  test('an answer that is resumed can be stopped, which ends its run', async () => {
    const { page, logIn } = await console.visit('/agents/coze')
    await logIn()
    await ask(page, 'sandbox:slow=20 sandbox:long=100000 Hello')
    await reply(page, 0).getByText('40 网关').waitFor()
    await page.reload()
    await reply(page, 0).getByText('100 网关').waitFor()
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByText('You stopped this reply.').waitFor()
    await expect.poll(() => callsOf('coze')).toMatchObject([{ outcome: 'client_gone', reason: 'stopped' }])
    const runs = () => console.system.sandbox.agents.coze.seen.runs.map(({ state }) => state)
    await expect.poll(runs).toEqual(['stopped'])
    expect((await fragments(page, 0)).length).toBeGreaterThanOrEqual(100)
  })

  test('a gateway that is killed: what was stored stays, the page says so, and the question can be asked again', async () => {
    const { page, logIn, violations } = await console.visit('/agents/dify')
    await logIn()
    await ask(page, SLOW)
    await reply(page, 0).getByText('60 网关').waitFor()
    await console.system.gateway.kill()
    await reply(page, 0).getByText('Reconnecting').waitFor()
    await console.system.gateway.start()
    await reply(page, 0).getByText('The answer was interrupted').waitFor()
    const before = await fragments(page, 0)
    expect(before.length).toBeGreaterThan(20)
    expect(before).toEqual(ALL.slice(0, before.length))
    expect(await violations()).toEqual([])

    await reply(page, 0).getByRole('button', { name: 'Ask again' }).click()
    await ended(page, 1)
    expect(await fragments(page, 1)).toEqual(ALL)
    expect(await fragments(page, 0)).toEqual(before)
    expect(await page.getByRole('button', { name: 'Ask again' }).count()).toBe(0)
    await expect
      .poll(async () => (await callsOf('dify')).map(({ outcome }) => outcome))
      .toEqual(['done', 'interrupted'])
  })
})
