import { hostname } from 'node:os'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HAS_BROWSER } from '../support/browser.ts'
import { joinConsole, type SharedConsole } from '../support/console-page.ts'

// A browser, because filters live in the address of the page, and a running call is followed there to its end.

const ATTEMPT = { deployment: 'eu-1', outcome: 'TIMEOUT', reason: 'agent_timeout', platformStatus: null }
const SEVERAL_ATTEMPTS = {
  deployment: 'eu-2',
  attempts: 3,
  traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
  attemptList: [
    { ...ATTEMPT, startMs: 5, durationMs: 800 },
    {
      ...{ deployment: 'eu-2', outcome: 'UPSTREAM_ERROR', reason: 'agent_error', platformStatus: 503 },
      ...{ startMs: 900, durationMs: 40 },
    },
  ],
}

describe.runIf(HAS_BROWSER)('calls in the console', () => {
  let console: SharedConsole

  beforeAll(async () => {
    console = await joinConsole('callum')
  })
  afterAll(() => console?.remove())

  const rows = (page: Page) =>
    page.getByRole('row').filter({ has: page.getByRole('rowheader').getByRole('link') })
  const title = (page: Page, name: string) => page.getByRole('heading', { level: 1, name }).waitFor()
  const counted = (page: Page, text: string) => page.getByRole('heading', { level: 2, name: text }).waitFor()

  /** Asks an agent to the end and returns the id of the call. */
  async function ask(agent: string, more: object = {}, requestId?: string): Promise<string> {
    const { api, key } = console.system
    const headers = requestId === undefined ? {} : { 'x-request-id': requestId }
    const response = await api.chat(key, agent, { ...more }, { headers })
    await response.text()
    return response.headers.get('x-call-id') ?? ''
  }

  test('the list reads on, is filtered by its address, and leads to a call', async () => {
    await Promise.all(Array.from({ length: 55 }, (_, call) => ask('dify', { chat_id: `many-${call}` })))
    await ask('coze', { query: 'sandbox:error=quota' })
    const user = console.system.adminId
    const { page, problems } = await console.open(`/calls?user=${user}`)
    await title(page, 'Calls')
    await counted(page, '56 calls')
    await rows(page).nth(49).scrollIntoViewIfNeeded()
    await rows(page).nth(55).waitFor()

    await page.getByLabel('Agent', { exact: true }).selectOption({ label: 'Coze' })
    await page.getByLabel('Outcome', { exact: true }).selectOption({ label: 'Platform failed' })
    await counted(page, '1 call')
    await page.reload()
    await counted(page, '1 call')
    expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({
      agent: 'coze',
      outcome: 'UPSTREAM_ERROR',
      user,
    })
    await rows(page).getByRole('link').click()
    await title(page, 'Call')
    await page.getByText("The gateway's quota at the agent platform is used up.").waitFor()
    await page.getByText("Platform's HTTP status").waitFor()
    await page.getByText('The operator has to look at the account of the gateway').waitFor()
    await page.getByRole('region', { name: 'Process' }).getByText(hostname(), { exact: true }).waitFor()
    await page.goBack()
    await page.getByRole('button', { name: '24 hours' }).click()
    await page.getByLabel('Outcome', { exact: true }).selectOption({ label: 'Running' })
    await page.getByText('No calls found').waitFor()
    expect(problems).toEqual([])
  })

  test('the search of every page leads to a call by its id and, where it is the only one, by the id of its request', async () => {
    const id = await ask('dify', { chat_id: 'searched' }, 'ticket-42')
    await ask('dify', { chat_id: 'searched' }, 'ticket-twice')
    await ask('dify', { chat_id: 'other' }, 'ticket-twice')
    // In the form in which the gateway makes them, which is that of calls as well, but by a clock of another time.
    const requestId = '01890a5d-ac96-774b-bcce-b302099a8057'
    await ask('dify', {}, requestId)
    const { page } = await console.open('/account')
    await title(page, 'Account')
    const search = page.getByRole('combobox', { name: 'Search everything' })
    await search.fill('ticket-twice')
    await search.press('Enter')
    await title(page, 'Calls')
    await counted(page, '2 calls')
    await page.getByText('within at most 31 days').waitFor()
    await page.getByLabel('Request id').fill('ticket-43')
    await page.getByLabel('Request id').press('Enter')
    await page.getByText('No call in that time and no single refusal of the last 24 hours').waitFor()
    await page.getByLabel('Request id').fill('ticket-42')
    await page.getByLabel('Request id').press('Enter')
    await page.waitForURL(new RegExp(`/calls/${id}`))

    await search.fill(requestId)
    await search.press('Enter')
    await page.locator('main').getByText(requestId).waitFor()

    await search.fill(id)
    await search.press('Enter')
    await page.locator('main').getByText('ticket-42').waitFor()
    await page.getByRole('link', { name: 'Calls of this conversation' }).click()
    await counted(page, '2 calls')
    await page.getByRole('button', { name: /^Conversation: / }).click()
    await page.getByText('within at most 31 days').waitFor({ state: 'hidden' })
  })

  test('the calls of a conversation are found by its id, by the filter and by the search of every page', async () => {
    const { api, key } = console.system
    const first = await api.chat(key, 'dify', { chat_id: '' })
    await first.text()
    const conversation = first.headers.get('x-conversation-id') ?? ''
    await (await api.chat(key, 'dify', { chat_id: conversation })).text()
    const { page } = await console.open('/account')
    await title(page, 'Account')
    const search = page.getByRole('combobox', { name: 'Search everything' })
    await search.fill(`X-Conversation-Id: ${conversation}`)
    await search.press('Enter')
    await title(page, 'Calls')
    await counted(page, '2 calls')
    expect(new URL(page.url()).searchParams.get('conversation')).toBe(conversation)
    await page.getByRole('button', { name: /^Conversation: / }).click()
    await page.getByRole('button', { name: 'More filters' }).click()
    await page.getByLabel('Conversation', { exact: true }).fill(conversation)
    await page.getByLabel('Conversation', { exact: true }).press('Enter')
    await counted(page, '2 calls')
  })

  test('a request whose id the gateway has made is found whatever the range, since its id carries its time', async () => {
    const { api, key } = console.system
    const response = await api.chat(key, 'dify')
    await response.text()
    const requestId = response.headers.get('x-request-id') ?? ''
    const { page } = await console.open('/calls?from=2020-01-01T00:00:00Z&to=2020-01-02T00:00:00Z')
    await page.getByText('No calls found').waitFor()
    await page.getByLabel('Request id').fill(requestId)
    await page.getByLabel('Request id').press('Enter')
    await page.waitForURL(new RegExp(`/calls/${response.headers.get('x-call-id')}`))
    await page.goto(page.url().replace(/calls.*/, `calls?range=24h&requestId=${requestId}`))
    await page.getByText('The id of this request carries its time').waitFor()
    await counted(page, '1 call')
  })

  test('the page of a call says which deployment answered, after how many attempts and how long a wait, and how often it was repeated', async () => {
    const id = await ask('dify', { chat_id: 'repeated' })
    const { page, problems } = await console.open('/account')
    // Stands in for an agent with several deployments, of which one failed.
    await page.route('**/graphql', async (route) => {
      const response = await route.fetch()
      const body = (await response.json()) as { data?: { call?: object } }
      if (body.data?.call !== undefined)
        Object.assign(body.data.call, { ...SEVERAL_ATTEMPTS, queuedMs: 1_500, replays: 4 })
      await route.fulfill({ response, json: body })
    })
    const search = page.getByRole('combobox', { name: 'Search everything' })
    await search.fill(id)
    await search.press('Enter')
    const said = async (region: string, name: string) => {
      const term = page.getByRole('region', { name: region }).getByText(name, { exact: true })
      return await term.locator('xpath=following-sibling::dd[1]').textContent()
    }
    expect(await said('Who called what', 'Deployment')).toBe('eu-2')
    expect(await said('What happened', 'Attempts')).toBe('3')
    const times = page.getByRole('region', { name: 'Where the time went' }).getByRole('listitem')
    expect(await times.nth(0).textContent()).toBe('Waited in the queue 1.5 sec')
    expect(await times.nth(1).textContent()).toMatch(/^Until the first text \d+/)
    expect(await said('What happened', 'Repeated answers')).toBe('4')
    expect(await said('Process', 'Trace id')).toBe(SEVERAL_ATTEMPTS.traceId)
    const attempts = page.getByRole('table', { name: 'Attempts' }).getByRole('row')
    expect(await attempts.nth(1).textContent()).toMatch(/1 eu-1Timed outagent_timeoutafter 5 ms800 ms/)
    expect(await attempts.nth(2).textContent()).toMatch(/2 eu-2Platform failed.*The platform said 503/)
    expect(problems).toEqual([])
  })

  test('a running call is shown as such, and its page follows it to the end', async () => {
    const leaving = new AbortController()
    const { api, key } = console.system
    const query = 'sandbox:silence'
    const { signal } = leaving
    const response = await api.chat(key, 'dify', { stream: true, query, chat_id: 'running' }, { signal })
    const { page } = await console.open(`/calls?outcome=RUNNING&user=${console.system.adminId}`)
    await counted(page, '1 call')
    await rows(page).getByText('Running').waitFor()
    await rows(page).getByRole('link').click()
    await page.getByText('The agent is still answering.').waitFor()
    expect(page.url()).toContain(response.headers.get('x-call-id'))
    leaving.abort()
    await page.getByText('The client left before the end of the reply').waitFor()
  })

  test('users see their own calls, not what the platform said, and nothing of those of others', async () => {
    const { api, token } = console.system
    const user = await api.createUser(token, 'caller-mei', { role: 'premium' })
    const { full_key } = await api.createKey(token, { name: 'key of mei', owner_id: user.id })
    const response = await api.chat(full_key, 'dify', { query: 'sandbox:error-midstream' })
    const id = response.headers.get('x-call-id')
    await response.text()
    const foreign = await ask('dify')
    const { page } = await console.open('/calls', user)
    await counted(page, '1 call')
    expect(await page.getByLabel('User', { exact: true }).count()).toBe(0)
    await rows(page).getByRole('link').click()
    await page.getByText('The agent platform failed.').waitFor()
    expect(page.url()).toContain(id)
    expect(await page.getByText("Platform's").count()).toBe(0)
    expect(await page.getByRole('region', { name: 'Process' }).count()).toBe(0)
    await page.goto(page.url().replace(id ?? '', foreign))
    await page.getByText('or is not yours to see').waitFor()
    await page.getByText('call_not_found').waitFor()
  })

  test('a count beyond 10,000 is not exact', async () => {
    const { page } = await console.open('/account')
    // Stands in for a ledger of that size: the gateway's tests show that it answers null for one.
    await page.route('**/graphql', async (route) => {
      if (!route.request().postData()?.includes('totalCount')) return await route.continue()
      const response = await route.fetch()
      const body = (await response.json()) as { data: { calls?: { totalCount: number | null } } }
      if (body.data.calls !== undefined) body.data.calls.totalCount = null
      await route.fulfill({ response, json: body })
    })
    await page.getByRole('link', { name: 'Calls' }).click()
    await counted(page, 'More than 10,000 calls')
  })
})
