import { createHash } from 'node:crypto'
import { expect } from 'vitest'
import { type Api, apiOf } from './api.ts'
import { EVENT_STREAM, follow, graphql, sendGraphql } from './graphql.ts'
import { contentOf, readerOf } from './stream.ts'
import { uploadFile } from './uploads.ts'

/**
 * A gateway that someone has started, in whatever way: from the sources, a package or an image. Its agents are the emulators of
 * the five platforms, its console is built, and GraphiQL is on.
 */
export interface ProbedGateway {
  readonly url: string
  /** Where metrics and health are served, if not at `url`. */
  readonly opsUrl?: string
  readonly admin: { readonly username: string; readonly password: string }
  /** Sends SIGTERM, and resolves when the process has ended. */
  stop(): Promise<unknown>
}

const AGENTS = ['fastgpt', 'hiagent', 'dify', 'coze', 'openai']
const HTML = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

/**
 * Uses the gateway as its users do, and stops it at the end, in the middle of a stream. What works here works as it is shipped: a
 * file that was left behind, or a package that does not load from a bundle, shows only where it is used.
 */
export async function probeGateway(gateway: ProbedGateway): Promise<void> {
  const api = apiOf(gateway)
  const token = await api.login()
  const { full_key: key } = await api.createKey(token, { permissions: ['chat', 'upload'] })
  for (const agent of AGENTS) await probeStream(api, key, agent)
  await probeResponses(api, key)
  await probeUpload(gateway, key)
  await probeConsole(gateway)
  await probeReference(gateway)
  await probeGraphql(gateway, key)
  await probeGraphiql(gateway)
  await probeOperations(gateway)
  await probeStop(gateway, api, key)
}

async function probeStream(api: Api, key: string, agent: string): Promise<void> {
  const response = await api.chat(key, agent, { stream: true, detail: true, conversation_id: 'probe' })
  const stream = await response.text()
  expect([agent, response.status, stream]).toEqual([agent, 200, expect.stringMatching(/data: \[DONE\]\n\n$/)])
  expect(stream, agent).not.toMatch(/^data: \{"error"/m)
  expect(stream, agent).toMatch(/"content":"[^"]/)
}

async function probeResponses(api: Api, key: string): Promise<void> {
  const body = { model: 'openai', input: 'Hello' }
  const reply = await api.call('POST', '/api/v1/responses', { token: key, body })
  expect([reply.status, reply.body.status]).toEqual([200, 'completed'])
}

async function probeUpload({ url }: ProbedGateway, key: string): Promise<void> {
  const content = 'as long as a page of text\n'.repeat(10_000)
  const record = await uploadFile(url, key, content)
  expect(record.sha256).toBe(createHash('sha256').update(content).digest('hex'))
  const file = await fetch(record.url)
  expect([file.status, await file.text()]).toEqual([200, content])
}

/** Browsers get the page and its scripts as the build has compressed them. */
async function probeConsole({ url }: ProbedGateway): Promise<void> {
  const page = await fetch(`${url}/console`, { headers: HTML })
  const html = await page.text()
  expect([page.status, html]).toEqual([200, expect.stringContaining('<script')])
  let length = 0
  for (const [, script = ''] of html.matchAll(/<script[^>]*src="([^"]+)"/g)) {
    const response = await fetch(new URL(script, url), { headers: { 'accept-encoding': 'br' } })
    const text = await response.text()
    expect(response.status).toBe(200)
    // A smaller file is served as it is.
    if (text.length > 1_000) expect(response.headers.get('content-encoding')).toBe('br')
    length += text.length
  }
  expect(length).toBeGreaterThan(10_000)
  expect((await fetch(`${url}/favicon.ico`)).headers.get('content-type')).toBe('image/x-icon')
}

async function probeReference({ url }: ProbedGateway): Promise<void> {
  const document = await fetch(`${url}/openapi.json`).then((response) => response.json())
  expect(document).toMatchObject({ openapi: expect.stringMatching(/^3\.1/), paths: { '/api/v1/chat': {} } })
  await expectPageWithFiles(`${url}/docs`, 1_000_000)
}

async function probeGraphql(gateway: ProbedGateway, key: string): Promise<void> {
  const { data, errors } = await graphql(gateway, '{ agents { id } }', { as: key })
  expect(errors).toBeUndefined()
  expect(data.agents.map(({ id }: { id: string }) => id)).toEqual(expect.arrayContaining(AGENTS))
  const document = 'subscription { usageUpdated { totals { calls } } }'
  const leave = new AbortController()
  const request = { as: key, headers: EVENT_STREAM, signal: leave.signal }
  await readerOf(await sendGraphql(gateway, document, request)).until(/"calls":[1-9]/)
  leave.abort()
  const chat = await follow(gateway, CHAT, { as: key })
  expect(chat.isComplete).toBe(true)
  expect(chat.results.flatMap(({ errors = [] }) => errors)).toEqual([])
}

const CHAT = `subscription { chat(input: { agentId: "dify", query: "Hello" }) { __typename } }`

async function probeGraphiql({ url }: ProbedGateway): Promise<void> {
  await expectPageWithFiles(`${url}/graphql`, 1_000_000)
  for (const worker of ['editor', 'json', 'graphql']) {
    const response = await fetch(`${url}/graphql/graphiql/${worker}-worker.js`)
    expect([response.status, (await response.text()).length]).toEqual([200, expect.any(Number)])
  }
}

/** All files that a page names are served, together at least this large. */
async function expectPageWithFiles(url: string, charactersMin: number): Promise<void> {
  const page = await fetch(url, { headers: HTML })
  const html = await page.text()
  expect([page.url, page.status]).toEqual([expect.stringContaining(url), 200])
  let characters = html.length
  for (const [, file = ''] of html.matchAll(/(?:src|href)="([^"#]+)"/g)) {
    const response = await fetch(new URL(file, page.url))
    expect([file, response.status]).toEqual([file, 200])
    characters += (await response.text()).length
  }
  expect(characters).toBeGreaterThan(charactersMin)
}

async function probeOperations({ url, opsUrl = url }: ProbedGateway): Promise<void> {
  expect(await fetch(`${opsUrl}/readyz`).then((response) => response.json())).toMatchObject({
    status: 'ready',
  })
  // With several workers, their counts are requested one after the other.
  await expect
    .poll(() => fetch(`${opsUrl}/metrics`).then((response) => response.text()))
    .toMatch(/^trunkline_calls_total\{agent="dify",outcome="done",reason=""\} [1-9]/m)
}

/** A stream that is open at SIGTERM reaches its end. */
async function probeStop({ stop }: ProbedGateway, api: Api, key: string): Promise<void> {
  const query = 'sandbox:slow=20 sandbox:long=100 Hello'
  const reader = readerOf(await api.chat(key, 'openai', { stream: true, query }))
  await reader.until(/"content":"[^"]/)
  const stopped = stop()
  const stream = await reader.rest()
  expect(contentOf(stream)).toMatch(/ 100 \D*$/)
  expect(stream).toMatch(/data: \[DONE\]\n\n$/)
  await stopped
}
