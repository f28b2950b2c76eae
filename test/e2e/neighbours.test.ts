import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Api, apiOf } from '../support/api.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { type ScriptedPlatform, sse, startScriptedPlatform } from '../support/scripted-platform.ts'
import { readerOf } from '../support/stream.ts'
import { until } from '../support/until.ts'
import { END_OF_FORM, formUpToFile, type OpenUpload, openUpload } from '../support/upload-client.ts'

// A process, because what neighbours share are the places, the turns and the sockets of one process.

/** What one user may take of what all share, however many keys it has. */
const IN_FLIGHT_MAX = 20
const READS_A_MINUTE = 5
const UPLOADS_AT_ONCE = 4
const PLENTY = { points: 1_000_000 }
/** Longer than the metrics are old by which the tests see which uploads run. */
const UPLOAD_WAIT_MS = 3_000

let platform: ScriptedPlatform
let gateway: TestGateway
let api: Api
let token: string
const held: (() => void)[] = []

beforeAll(async () => {
  platform = await startScriptedPlatform(async (_path, _body, response) => {
    response.setHeader('content-type', 'text/event-stream')
    response.write(sse({ choices: [{ delta: { content: 'Hi' } }] }))
    await new Promise<void>((resolve) => held.push(resolve))
    response.end(sse({ choices: [{ delta: {}, finish_reason: 'stop' }] }, '[DONE]'))
  })
  const agents = { vllm: { platform: 'openai', baseUrl: `${platform.origin}/v1`, model: 'm' } }
  const limits = { chat: PLENTY, upload: PLENTY, calls: PLENTY, reads: { points: READS_A_MINUTE } }
  const config = { agents, limits, chat: { inFlightMax: IN_FLIGHT_MAX }, uploads: { waitMs: UPLOAD_WAIT_MS } }
  gateway = await startGateway({ config: JSON.stringify(config) })
  api = apiOf(gateway)
  token = await api.login()
})
afterAll(async () => {
  for (const release of held) release()
  await gateway?.remove()
  await platform?.close()
})

async function tenant(name: string, keys = 1) {
  const { id: owner_id } = await api.createUser(token, `${name}-${randomUUID().slice(0, 8)}`, {
    role: 'premium',
  })
  const permissions = ['chat', 'upload']
  const made = await Promise.all(
    Array.from({ length: keys }, () => api.createKey(token, { owner_id, permissions })),
  )
  return made.map(({ full_key }) => full_key)
}

async function callsOf(key: string): Promise<number> {
  const { body } = await api.call('GET', '/api/v1/calls?limit=100', { token: key })
  return body.data.items.length
}

describe('calls in progress', () => {
  test('of one user with many keys leave the last tenth to others, and what is refused is not counted', async () => {
    const keys = await tenant('many', 6)
    const [another = ''] = await tenant('other')
    const leaving = new AbortController()
    const chat = (key: string) =>
      api.chat(key, 'vllm', { stream: true, chat_id: randomUUID() }, { signal: leaving.signal })
    const answers = await Promise.all(
      Array.from({ length: IN_FLIGHT_MAX + 4 }, (_, call) => chat(keys[call % keys.length] ?? '')),
    )
    const taken = answers.filter(({ status }) => status === 200)
    const refused = answers.filter(({ status }) => status !== 200)
    expect(taken).toHaveLength(IN_FLIGHT_MAX * 0.9)
    for (const response of refused) {
      expect([response.status, response.headers.get('retry-after')]).toEqual([429, '1'])
      expect(await response.json()).toMatchObject({ reason: 'rate_limited' })
    }
    const counted = await Promise.all(keys.map(callsOf))
    expect(counted.reduce((sum, count) => sum + count, 0)).toBe(IN_FLIGHT_MAX * 0.9)

    const rest = [await chat(another), await chat(another)]
    expect(rest.map(({ status }) => status)).toEqual([200, 200])
    const full = await chat(another)
    expect([full.status, (await full.json()).reason]).toEqual([503, 'unavailable'])
    // What ends is free again, for the first user as well.
    for (const release of held.splice(0)) release()
    for (const response of [...taken, ...rest]) await readerOf(response).rest()
    const again = await chat(keys[0] ?? '')
    expect(again.status).toBe(200)
    leaving.abort()
    for (const release of held.splice(0)) release()
  })
})

describe('large bodies', () => {
  /** Without an announced length, each counts as the 20 MiB that the route takes, of which one user may have twelve. */
  const IN_ALL = 15
  // What Node wants beside a stream, and the types of browsers do not know.
  const HALF_DUPLEX = { duplex: 'half' }

  test('of one user give their memory back when their replies begin, and not when these end', async () => {
    const [key = ''] = await tenant('large')
    const text = JSON.stringify({
      model: 'vllm',
      stream: true,
      messages: [{ role: 'user', content: 'x'.repeat(20_000) }],
    })
    const ask = () =>
      fetch(`${gateway.url}/api/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: new Blob([text]).stream(),
        ...HALF_DUPLEX,
      })
    const answers = await Promise.all(Array.from({ length: IN_ALL }, ask))
    expect(answers.map(({ status }) => status)).toEqual(Array(IN_ALL).fill(200))
    expect(held).toHaveLength(IN_ALL)
    for (const release of held.splice(0)) release()
    for (const answer of answers) expect(await readerOf(answer).rest()).toContain('[DONE]')
  })
})

describe('uploads', () => {
  const begin = async (key: string): Promise<OpenUpload> => {
    const upload = openUpload(gateway.url, key)
    await upload.write(formUpToFile())
    await upload.write('some text')
    return upload
  }
  const complete = async (upload: OpenUpload) => {
    await upload.write(END_OF_FORM)
    upload.end()
    return (await upload.answer).status
  }
  const inProgress = (count: number) =>
    until(`${count} uploads are in progress`, async () => {
      const { body } = await api.call('GET', '/metrics')
      return body.includes(`\ntrunkline_uploads_in_flight ${count}\n`)
    })

  test('a fifth of a user waits unread for its turn, with whichever key, and is refused after a while', async () => {
    const keys = await tenant('uploader', 5)
    const [another = ''] = await tenant('neighbour')
    const running = await Promise.all(keys.slice(0, UPLOADS_AT_ONCE).map(begin))
    await inProgress(UPLOADS_AT_ONCE)
    const late = await begin(keys[4] ?? '')
    const refused = await late.answer
    expect([refused.status, refused.body.reason, refused.headers.get('retry-after')]).toEqual([
      ...[429, 'rate_limited', '1'],
    ])
    expect(await callsOf(keys[4] ?? '')).toBe(0)

    const fifth = await begin(keys[4] ?? '')
    const neighbours = await begin(another)
    await inProgress(UPLOADS_AT_ONCE + 1)
    const [first, ...others] = running
    expect(first && (await complete(first))).toBe(200)
    for (const upload of [fifth, neighbours, ...others]) expect(await complete(upload)).toBe(200)
    await inProgress(0)
  })

  test('of clients that went away give their turns and places to the next', async () => {
    const keys = await tenant('leaver', 2)
    const running = await Promise.all(Array.from({ length: UPLOADS_AT_ONCE }, () => begin(keys[0] ?? '')))
    await inProgress(UPLOADS_AT_ONCE)
    const waiting = await Promise.all(Array.from({ length: 10 }, () => begin(keys[1] ?? '')))
    for (const upload of [...waiting, ...running]) {
      upload.leave()
      upload.answer.catch(() => undefined)
    }
    await inProgress(0)
    expect(await complete(await begin(keys[1] ?? ''))).toBe(200)
  })
})

describe('reads without another limit', () => {
  test('are limited by credential on REST and GraphQL together, and say what is left', async () => {
    const user = await api.createUser(token, `reader-${randomUUID().slice(0, 8)}`, { role: 'premium' })
    const own = await api.login(user.username, user.password)
    const document = (query: string) => api.call('POST', '/graphql', { token: own, body: { query } })
    const first = await api.call('GET', '/api/v1/users/me', { token: own })
    expect(first.status).toBe(200)
    expect(first.headers.get('ratelimit-policy')).toBe(`"reads";q=${READS_A_MINUTE};w=60`)
    expect(first.headers.get('ratelimit')).toMatch(new RegExp(`^"reads";r=${READS_A_MINUTE - 1};t=\\d+$`))
    expect((await api.call('GET', '/api/v1/api-keys?limit=1000', { token: own })).status).toBe(400)
    const paths = ['/api/v1/api-keys', '/api/v1/uploads', `/api/v1/users/me`]
    for (const path of paths) expect((await api.call('GET', path, { token: own })).status).toBe(200)
    expect((await document('{ me { apiKeys { totalCount } } }')).body.data.me.apiKeys.totalCount).toBe(0)

    const refused = await api.call('GET', '/api/v1/users/me', { token: own })
    expect([refused.status, refused.body.reason]).toEqual([429, 'rate_limited'])
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    const { body, headers } = await document('{ me { username } }')
    expect(body.errors[0].extensions).toMatchObject({ code: 'rate_limited', status: 429 })
    expect(headers.get('ratelimit')).toMatch(/^"reads";r=0;/)
    // Reports have a limit of their own, and the next window and other credentials are not affected.
    expect((await document('{ usage { totals { calls } } }')).body.data.usage.totals.calls).toBe(0)
    expect((await api.call('GET', '/api/v1/usage', { token: own })).status).toBe(200)
  })
})
