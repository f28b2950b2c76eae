import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HAS_BROWSER } from '../support/browser.ts'
import { type ConsoleInBrowser, startConsole } from '../support/console-page.ts'
import { graphql } from '../support/graphql.ts'
import { readerOf } from '../support/stream.ts'
import { until } from '../support/until.ts'
import { sendFile } from '../support/uploads.ts'

// A browser, because the way from the id of a request to its explanation leads through pages and their search.
// A gateway of its own, because its limits are small.

/** Few enough to be used up, and more than a look at some pages takes. */
const SOME = { points: 80, windowSeconds: 600 }

describe.runIf(HAS_BROWSER)('why did my call fail?', () => {
  let console: ConsoleInBrowser

  beforeAll(async () => {
    const { points } = SOME
    console = await startConsole({
      settings: {
        limits: { agents: SOME, reports: SOME, calls: { points: 2 * points }, reads: SOME, streamsPerKey: 1 },
      },
      agents: ({ openai }) => ({ one: { ...openai, concurrency: { max: 1, queue: 0, waitMs: 1_000 } } }),
    })
  })
  afterAll(() => console?.remove())

  test('every refusal is found by the id of its request in one step: what was asked, the key, each limit, and what is away; it says whose it was and what to do', async () => {
    const { api, token, gateway } = console.system
    const newKey = (more: object = {}) => api.createKey(token, { ...more })
    const expected = new Map<string, { status: number; said: string | RegExp }>()
    const chat = async (id: string, key: string, agent: string, status: number, said: string, more = {}) => {
      const response = await api.chat(key, agent, more, { headers: { 'x-request-id': id } })
      expect([id, response.status, await response.text()]).toEqual([id, status, expect.anything()])
      expected.set(id, { status, said })
    }
    await chat('why-400', (await newKey()).full_key, 'dify', 400, 'body.query', { query: 7 })
    const revoked = await newKey()
    await api.call('POST', `/api/v1/api-keys/${revoked.id}/revoke`, { token })
    await chat('why-401', revoked.full_key, 'dify', 401, 'key_revoked')
    const narrow = await newKey({ name: 'narrow', allowed_agents: ['dify'] })
    await chat('why-403', narrow.full_key, 'coze', 403, 'agent_denied')
    const limited = await newKey({ limits: { chat_per_minute: 1 } })
    await (await api.chat(limited.full_key, 'dify')).text()
    await chat('why-chat', limited.full_key, 'dify', 429, "1 a minute, the key's own limit")
    const poor = await api.createUser(token, 'poor', { role: 'premium', max_api_calls: 0 })
    await chat('why-quota', (await newKey({ owner_id: poor.id })).full_key, 'dify', 429, 'Quota of the user')

    const leaving = new AbortController()
    const silent = { stream: true, query: 'sandbox:silence' }
    const holder = await newKey()
    const open = await api.chat(holder.full_key, 'one', silent, { signal: leaving.signal })
    await readerOf(open).until(/content/)
    await chat('why-streams', holder.full_key, 'dify', 429, 'Streams of a key', { stream: true })
    await chat('why-503', (await newKey()).full_key, 'one', 503, 'Calls of the agent at a time')
    leaving.abort()

    const uploads = await newKey({ permissions: ['upload'], limits: { upload_per_minute: 1 } })
    expect((await sendFile(gateway.url, uploads.full_key, 'a text')).status).toBe(200)
    const body = new FormData()
    body.set('file', new Blob(['a text']), 'note.txt')
    body.set('created_by', 'me')
    const headers = (key: string, id: string) => ({ authorization: `Bearer ${key}`, 'x-request-id': id })
    const upload = await fetch(`${gateway.url}/api/v1/upload`, {
      ...{ method: 'POST', body, headers: headers(uploads.full_key, 'why-upload') },
    })
    expect(upload.status).toBe(429)
    expected.set('why-upload', { status: 429, said: 'Rate of uploads' })
    for (const [limit, path, said] of [
      ['agents', '/api/v1/agents', "80 in 600 seconds, the gateway's limit"],
      ['reports', '/api/v1/usage', 'limits.reports.points'],
      ['calls', '/api/v1/calls', 'Rate of call lists'],
      ['reads', '/api/v1/api-keys', 'Rate of reads'],
    ] as const) {
      const { full_key } = await newKey({ permissions: ['admin'] })
      const id = `why-${limit}`
      const ask = async (requestId: string) => {
        const response = await fetch(gateway.url + path, { headers: headers(full_key, requestId) })
        await response.text()
        return response.status
      }
      await until(`the limit ${limit} is reached`, async () => {
        // Few at a time, since of one key and reason only the first refusals are kept one by one.
        const statuses = await Promise.all(Array.from({ length: 5 }, () => ask(`until-${limit}`)))
        return statuses.includes(429)
      })
      // The search leads to the refusal only if it is the only one with its id. Meanwhile the limit may have let one through again.
      await until(`${limit} is refused`, async () => (await ask(id)) === 429)
      expected.set(id, { status: 429, said })
    }
    const missing = async () => {
      const query = `{ ${[...expected.keys()].map((id, n) => `r${n}: refusal(requestId: "${id}") { id }`).join(' ')} }`
      const { data } = await graphql(gateway, query, { as: token })
      return Object.values(data as Record<string, unknown>).filter((kept) => kept === null)
    }
    // They are written every few seconds, and each look takes points of the limit.
    await expect.poll(missing, { interval: 1_000, timeout: 30_000 }).toEqual([])

    const { page, problems } = await console.open('/account')
    await page.getByRole('heading', { level: 1, name: 'Account' }).waitFor()
    const field = page.getByRole('combobox', { name: 'Search everything' })
    for (const [id, { status, said }] of expected) {
      await field.fill(id)
      await field.press('Enter')
      await page.waitForURL((url) => url.pathname.endsWith(`/refusals/${id}`))
      const why = page.getByRole('region', { name: 'Why it was refused' })
      await why.getByText(String(status), { exact: true }).waitFor()
      await why.getByText(said).first().waitFor()
      if (id !== 'why-403') continue
      expect(await why.textContent()).toContain('add the agent')
      const request = page.getByRole('region', { name: 'Request', exact: true })
      await request.getByText('narrow', { exact: true }).waitFor()
      await request.getByText('admin', { exact: true }).first().waitFor()
      await page.getByText('after that only the count is').waitFor()
    }
    expect(expected.size).toBe(12)
    await page.goto(`${gateway.url}/console/refusals?key=${limited.id}`)
    const row = page.getByRole('row', { name: /rate_limited/ })
    await row.getByText("1 a minute, the key's own limit").waitFor()
    await row.getByRole('rowheader').getByRole('link').click()
    await page.getByRole('region', { name: 'Why it was refused' }).getByRole('link').click()
    await page.waitForURL((url) => url.pathname.endsWith(`/keys/${limited.id}`))
    expect(problems).toEqual([])
  })
})
