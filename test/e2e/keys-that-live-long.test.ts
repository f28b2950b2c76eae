import { createHash } from 'node:crypto'
import pg from 'pg'
import { Agent, fetch as fetchFrom } from 'undici'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type Answer, type Api, apiOf, chatBody } from '../support/api.ts'
import type { TestGateway } from '../support/gateway.ts'
import { graphql } from '../support/graphql.ts'
import { type KeptReplicas, startKeptReplicas } from '../support/kept-replicas.ts'
import { query } from '../support/query.ts'
import { RAISED_LIMITS } from '../support/raised-limits.ts'
import { framesOf, readerOf } from '../support/stream.ts'

// A process, because what one gateway does to a key must hold in another one at once, and addresses are those of connections.

// Starting a process takes long on a busy machine.
vi.setConfig({ testTimeout: 60_000 })

const server = process.env.E2E_DATABASE_URL ?? ''
const redisUrl = process.env.E2E_REDIS_URL ?? ''

/** Another address of this machine, which the gateways trust as their proxy. */
const SETTINGS = { limits: RAISED_LIMITS, trustedProxies: ['127.0.0.2'] }

describe.skipIf(server === '' || redisUrl === '')('with two gateways on one database', () => {
  let replicas: KeptReplicas
  let apis: readonly Api[]
  let token: string

  beforeAll(async () => {
    const env = { REDIS_URL: `${redisUrl}/9` }
    replicas = await startKeptReplicas(server, [{ env }, { env }], { settings: SETTINGS })
    apis = replicas.gateways.map(apiOf)
    token = replicas.token
  }, 120_000)
  afterAll(() => replicas?.remove())

  const at = (index: number) => apis[index % apis.length] as Api
  const newKey = (more: Record<string, unknown> = {}) => at(0).createKey(token, more)
  const rotate = (id: string, overlap_seconds: number, through = 0): Promise<Answer> =>
    at(through).call('POST', `/api/v1/api-keys/${id}/rotate`, { token, body: { overlap_seconds } })
  const patch = async (id: string, body: object) =>
    expect((await at(0).call('PATCH', `/api/v1/api-keys/${id}`, { token, body })).status).toBe(200)

  /** The key's next secret. */
  async function nextSecret(id: string, overlapSeconds = 600): Promise<string> {
    const { status, body } = await rotate(id, overlapSeconds)
    expect([status, body.data?.id]).toEqual([200, id])
    return body.data.full_key
  }

  /** The status and the reason of a call with this secret. */
  async function ask(secret: string, through: number, more: Record<string, unknown> = {}): Promise<string> {
    const response = await at(through).chat(secret, 'openai', { chat_id: '', ...more })
    const { reason = 'answered' } = (await response.json()) as { reason?: string }
    return `${response.status} ${reason}`
  }
  const askBoth = (secret: string) => Promise.all([ask(secret, 0), ask(secret, 1)])

  /** As many calls at once as asked for, with these secrets at both gateways in turn, by how they ended. */
  async function askMany(count: number, secrets: readonly string[]): Promise<Record<string, number>> {
    const ends = await Promise.all(
      Array.from({ length: count }, (_, call) => ask(secrets[call % secrets.length] ?? '', call >> 1)),
    )
    return Object.fromEntries(
      [...new Set(ends)].map((end) => [end, ends.filter((own) => own === end).length]),
    )
  }

  /** A stream that does not end by itself, once it has begun, and the code of the error with which it ends. */
  async function openStream(secret: string, through: number): Promise<{ readonly end: Promise<string> }> {
    const body = { query: 'sandbox:silence Hello', stream: true, chat_id: '' }
    const reader = readerOf(await at(through).chat(secret, 'openai', body))
    await reader.until(/"1 |Hello/)
    return { end: reader.rest().then((text) => framesOf(text).at(-1)?.error?.code) }
  }

  test('no call fails while a key is rotated, and after the overlap every gateway refuses the old secret alone', async () => {
    const { id, full_key: old } = await newKey()
    let isOver = false
    /** Calls until one is refused, or the test is over. */
    async function callOn(secret: string, through: number) {
      for (let answered = 0; ; answered += 1) {
        const end = isOver ? 'over' : await ask(secret, through)
        if (end !== '200 answered') return { answered, end, endedMs: Date.now() }
      }
    }
    const callsWith = (secret: string) => [0, 1, 0, 1].map((through) => callOn(secret, through))
    const withOld = callsWith(old)
    const { body } = await rotate(id, 2)
    const withNew = callsWith(body.data.full_key)

    const [, previous] = body.data.secrets
    expect(previous).toMatchObject({ key_prefix: old.slice(0, 12), ends_at: expect.any(String) })
    for (const { answered, end, endedMs } of await Promise.all(withOld)) {
      expect([end, answered > 0]).toEqual(['401 key_rotated', true])
      expect(endedMs).toBeGreaterThanOrEqual(Date.parse(previous.ends_at))
    }
    expect(await askBoth(old)).toEqual(['401 key_rotated', '401 key_rotated'])
    isOver = true
    for (const { answered, end } of await Promise.all(withNew))
      expect([end, answered > 0]).toEqual(['over', true])
  })

  test('both secrets share the quota of the owner and the rate limit of the key, at every gateway', async () => {
    const owner = await at(0).createUser(token, 'quota', { max_api_calls: 10 })
    const bound = await newKey({ owner_id: owner.id })
    expect(await askMany(40, [bound.full_key, await nextSecret(bound.id)])).toEqual({
      '200 answered': 10,
      '429 quota_exceeded': 30,
    })
    const limited = await newKey({ limits: { chat_per_minute: 7 } })
    expect(await askMany(40, [limited.full_key, await nextSecret(limited.id)])).toEqual({
      '200 answered': 7,
      '429 rate_limited': 33,
    })
  })

  test('the new secret repeats kept calls of the old one, and goes on with its conversations', async () => {
    const { id, full_key: old } = await newKey()
    const question = { conversation: 'long-lived', query: 'My name is Ada.' }
    const first = await replicas.client(0, old).ask('chat', 'once', question)
    expect(first.status).toBe(200)
    const reply = await first.json()
    const secret = await nextSecret(id)
    const again = await replicas.client(1, secret).ask('chat', 'once', question)
    expect(await again.json()).toEqual(reply)
    expect(again.headers.get('x-call-id')).toBe(first.headers.get('x-call-id'))
    const further = await at(1).chat(secret, 'openai', { chat_id: 'long-lived', query: 'What is my name?' })
    expect(await further.text()).toContain('Ada')
  })

  test('a paused key is refused at the next call of every gateway, its streams end, and it can be resumed at once', async () => {
    const { id, full_key: key } = await newKey()
    const streams = [await openStream(key, 0), await openStream(key, 1)]
    await patch(id, { is_active: false })
    expect(await ask(key, 1)).toBe('403 key_paused')
    expect(await ask(key, 0)).toBe('403 key_paused')
    for (const { end } of streams) expect(await end).toBe('key_paused')
    await patch(id, { is_active: true })
    expect(await ask(key, 1)).toBe('200 answered')
    expect(await ask(key, 0)).toBe('200 answered')
  })

  test('an address that is taken from a key is refused at the next call of every gateway, and its streams end', async () => {
    const { id, full_key: key } = await newKey({ allowed_addresses: ['127.0.0.0/8'] })
    const streams = [await openStream(key, 0), await openStream(key, 1)]
    await patch(id, { allowed_addresses: ['192.0.2.0/24'] })
    expect(await ask(key, 1)).toBe('403 address_denied')
    expect(await ask(key, 0)).toBe('403 address_denied')
    for (const { end } of streams) expect(await end).toBe('address_denied')
    await patch(id, { allowed_addresses: null })
    expect(await askBoth(key)).toEqual(['200 answered', '200 answered'])
  })

  test('answers of a rotation that are lost, whenever the client leaves, cost neither the old secret nor the next rotation', async () => {
    const { id, full_key: old } = await newKey()
    for (let ms = 0; ms < 20; ms += 2) {
      const url = `${replicas.gateways[ms % 4 === 0 ? 0 : 1]?.url}/api/v1/api-keys/${id}/rotate`
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
      const signal = AbortSignal.timeout(ms)
      const sent = fetch(url, { method: 'POST', headers, body: '{"overlap_seconds":600}', signal })
      await sent.catch(() => undefined)
      expect(await ask(old, ms)).toBe('200 answered')
    }
    const secret = await nextSecret(id)
    expect(await askBoth(old)).toEqual(['200 answered', '200 answered'])
    expect(await askBoth(secret)).toEqual(['200 answered', '200 answered'])
    const { status, body } = await rotate(id, 600, 1)
    expect([status, body.reason]).toEqual([409, 'rotation_pending'])
  })

  test('of rotations at once, one secret is valid beside the one before', async () => {
    const { id, full_key: old } = await newKey()
    const answers = await Promise.all(Array.from({ length: 8 }, (_, index) => rotate(id, 600, index)))
    const secrets = answers.flatMap(({ status, body }) => (status === 200 ? [body.data.full_key] : []))
    const ends = await Promise.all(secrets.map((secret, index) => ask(secret, index)))
    expect(ends.filter((end) => end === '200 answered')).toHaveLength(1)
    expect(new Set(ends)).toEqual(new Set(['200 answered', ...(ends.length > 1 ? ['401 key_unknown'] : [])]))
    expect(await askBoth(old)).toEqual(['200 answered', '200 answered'])
  })

  test('a rotation is refused while a process runs that would not know the new secret, and says which version it waits for', async () => {
    const { id, full_key: key } = await newKey()
    await query(replicas.databaseUrl, OLDER_PROCESS)
    const { status, body } = await rotate(id, 600)
    expect([status, body.reason, body.detail]).toEqual([
      409,
      'upgrade_pending',
      expect.stringMatching(/version/),
    ])
    expect(await ask(key, 1)).toBe('200 answered')
    await query(replicas.databaseUrl, 'UPDATE instances SET stopped_at = now() WHERE build = $1', [
      OLDER_BUILD,
    ])
    expect(await ask(await nextSecret(id), 1)).toBe('200 answered')
  })

  test.each([
    ['the row of a key', (id: string) => `SELECT FROM api_keys WHERE id = '${id}' FOR UPDATE`],
    ['the table of keys against changes', () => 'LOCK TABLE api_keys IN SHARE MODE'],
  ])(
    'while a stranger holds %s, reads with the key are answered, and its secrets stay as they are',
    async (_what, lock) => {
      const { id, full_key: key } = await newKey()
      const stranger = new pg.Client({ connectionString: replicas.databaseUrl })
      await stranger.connect()
      await stranger.query('BEGIN')
      await stranger.query(lock(id))
      const read = () =>
        Promise.all([0, 1].map((through) => at(through).call('GET', '/api/v1/key', { token: key })))
      for (const { status, body } of [...(await read()), ...(await read())])
        expect([status, body.data?.id]).toEqual([200, id])
      const { status, body } = await rotate(id, 600)
      expect([status, body.reason]).toEqual([503, 'unavailable'])
      await stranger.query('ROLLBACK')
      await stranger.end()
      const secret = await nextSecret(id)
      expect(await askBoth(key)).toEqual(['200 answered', '200 answered'])
      expect(await askBoth(secret)).toEqual(['200 answered', '200 answered'])
    },
  )

  test('a secret that was used for reads alone beside many calls with the old one counts as used', async () => {
    const { id, full_key: old } = await newKey()
    for (let round = 0; round < 5; round += 1) {
      const secret = await nextSecret(id)
      const calls = askMany(30, [old])
      expect((await at(1).call('GET', '/api/v1/key', { token: secret })).status).toBe(200)
      const { status, body } = await rotate(id, 600)
      expect([status, body.reason]).toEqual([409, 'rotation_pending'])
      await calls
      expect((await rotate(id, 0)).status).toBe(200)
      await query(
        replicas.databaseUrl,
        'UPDATE api_keys SET previous_hash = $2, previous_ends_at = now() WHERE id = $1',
        [id, Buffer.alloc(32, round)],
      )
      await query(replicas.databaseUrl, 'UPDATE api_keys SET hash = $2 WHERE id = $1', [
        id,
        createHash('sha256').update(old).digest(),
      ])
    }
  })

  /** One request with a key for each way in. */
  const WAYS: Readonly<
    Record<string, (gateway: TestGateway, key: string, headers: Headers) => Promise<unknown>>
  > = {
    chat: (gateway, key, headers) =>
      reasonOf(gateway, '/api/v1/chat', key, { ...headers, agent: 'openai' }, chatBody()),
    completions: (gateway, key, headers) =>
      reasonOf(gateway, '/api/v1/chat/completions', key, headers, {
        model: 'openai',
        messages: [{ role: 'user', content: 'Hello' }],
      }),
    graphql: async (gateway, key, headers) => {
      const { errors } = await graphql(gateway, '{ agents { id } apiKeys(first: 1) { nodes { id } } }', {
        as: key,
        headers,
      })
      return `${errors?.[0]?.extensions.status} ${errors?.[0]?.extensions.code}`
    },
    upload: async ({ url }, key, headers) => {
      const form = new FormData()
      form.set('created_by', 'me')
      form.set('file', new Blob(['text']), 'note.txt')
      const sent = { authorization: `Bearer ${key}`, ...headers }
      return ended(await fetch(`${url}/api/v1/upload`, { method: 'POST', headers: sent, body: form }))
    },
    key: (gateway, key, headers) => reasonOf(gateway, '/api/v1/key', key, headers),
  }

  test.each(Object.entries(WAYS))(
    'no spelling of an allowed address in any header lets another client in (%s)',
    async (_way, send) => {
      const { full_key: key } = await newKey({
        permissions: ['chat', 'upload', 'admin'],
        allowed_addresses: ['203.0.113.7', '2001:db8::/32', '127.0.0.2'],
      })
      const gateway = replicas.gateways[1] as TestGateway
      const ends = new Set<unknown>()
      for (const name of FORGED)
        for (const batch of inTens(SPELLINGS))
          for (const end of await Promise.all(
            batch.map((address) => send(gateway, key, { [name]: address })),
          ))
            ends.add(end)
      expect([...ends]).toEqual(['403 address_denied'])
    },
  )

  test.each([
    ['203.0.113.7', '200 answered'],
    ['::ffff:203.0.113.7', '200 answered'],
    ['::FFFF:CB00:7107', '200 answered'],
    ['2001:0DB8:0:0::1', '200 answered'],
    ['198.51.100.1, 203.0.113.7', '200 answered'],
    ['203.0.113.7, 127.0.0.2', '200 answered'],
    ['203.0.113.7, 198.51.100.1', '403 address_denied'],
    ['198.51.100.1', '403 address_denied'],
    ['2001:db9::1', '403 address_denied'],
    ['unknown', '403 address_denied'],
    ['', '403 address_denied'],
  ])(
    'through a trusted proxy that forwards for %j a key of other addresses is answered %s',
    async (address, end) => {
      const { full_key: key } = await newKey({ allowed_addresses: ['::ffff:203.0.113.7', '2001:db8::/32'] })
      const proxy = new Agent({ localAddress: '127.0.0.2' })
      for (const { url } of replicas.gateways) {
        const response = await fetchFrom(`${url}/api/v1/chat`, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${key}`,
            agent: 'openai',
            'content-type': 'application/json',
            ...(address !== '' && { 'x-forwarded-for': address }),
            'x-real-ip': '203.0.113.7',
            forwarded: 'for=203.0.113.7',
          },
          body: JSON.stringify(chatBody({ chat_id: '' })),
          dispatcher: proxy,
        })
        const { reason = 'answered' } = (await response.json()) as { reason?: string }
        expect(`${response.status} ${reason}`).toBe(end)
      }
      await proxy.close()
    },
  )
})

type Headers = Readonly<Record<string, string>>

const OLDER_BUILD = '20261129144340_call_has_turn'
const OLDER_PROCESS = `
INSERT INTO instances (id, started_at, lease_until, build)
VALUES (gen_random_uuid(), now(), now() + interval '1 hour', '${OLDER_BUILD}')`

const FORGED = [
  'x-forwarded-for',
  'x-real-ip',
  'forwarded',
  'cf-connecting-ip',
  'true-client-ip',
  'x-client-ip',
]

/** Ten forms, as one header may have them, of each of six addresses that the key allows. */
const SPELLINGS = [
  '203.0.113.7',
  '::ffff:203.0.113.7',
  '::ffff:cb00:7107',
  '2001:db8::1',
  '2001:0DB8:0:0:0:0:0:1',
  '127.0.0.2',
].flatMap((address) => [
  address,
  `[${address}]`,
  `${address}:443`,
  `"${address}"`,
  `for=${address}`,
  `for="[${address}]";proto=https;by=127.0.0.1`,
  `${address}, 127.0.0.1`,
  `127.0.0.1, ${address}`,
  `${address}%lo`,
  ` ${address},${address},unknown`,
])

async function reasonOf({ url }: TestGateway, path: string, key: string, headers: Headers, body?: object) {
  const sent = { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers }
  const post = { method: 'POST', body: JSON.stringify(body) }
  return ended(await fetch(url + path, { headers: sent, ...(body !== undefined && post) }))
}

/** The status and the reason of a response, in the form of its face. */
async function ended(response: Response): Promise<string> {
  const { reason, error } = (await response.json()) as { reason?: string; error?: { code: string } }
  return `${response.status} ${reason ?? error?.code}`
}

function* inTens<Item>(items: readonly Item[]): Generator<readonly Item[]> {
  for (let start = 0; start < items.length; start += 10) yield items.slice(start, start + 10)
}
