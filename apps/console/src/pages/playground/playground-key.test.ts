import { expect, test } from 'vitest'
import { PlaygroundKey } from './playground-key.ts'

const HOUR_MS = 60 * 60_000

/** A gateway as far as keys are concerned, with a clock that the test moves. */
function keysAt(startMs: number) {
  const requests: { path: string; body: Record<string, unknown>; keepalive: boolean | undefined }[] = []
  let made = 0
  let nowMs = startMs
  const key = new PlaygroundKey({
    baseURL: 'http://gateway.example.com',
    agent: 'dify',
    accessToken: () => 'token',
    now: () => nowMs,
    async fetch(input, init) {
      const { pathname } = new URL(String(input))
      const body = typeof init?.body === 'string' ? JSON.parse(init.body) : {}
      requests.push({ path: pathname, body, keepalive: init?.keepalive })
      const data = pathname.endsWith('/revoke') ? {} : { id: `id-${++made}`, full_key: `key-${made}` }
      return Response.json({ code: 0, msg: 'Success', data })
    },
  })
  return { key, requests, pass: (ms: number) => (nowMs += ms), paths: () => requests.map(({ path }) => path) }
}

test('one key serves a message and a file that need it at the same time', async () => {
  const { key, requests } = keysAt(0)
  expect(await Promise.all([key.get(), key.get()])).toEqual(['key-1', 'key-1'])
  expect(await key.get()).toBe('key-1')
  expect(requests.map(({ body }) => body)).toEqual([
    {
      name: 'playground dify',
      description: "Made by the console's playground",
      expires_at: '1970-01-01T01:00:00.000Z',
      permissions: ['chat', 'upload'],
      allowed_agents: ['dify'],
    },
  ])
})

test('another key is made shortly before one expires', async () => {
  const { key, pass } = keysAt(0)
  await key.get()
  pass(HOUR_MS - 61_000)
  expect(await key.get()).toBe('key-1')
  pass(2_000)
  expect(await key.get()).toBe('key-2')
})

test('leaving revokes the key once, by a request that outlives the page, also where it is still being made', async () => {
  const { key, requests, paths } = keysAt(0)
  const making = key.get()
  await key.revoke()
  await making
  await key.revoke()
  expect(paths()).toEqual(['/api/v1/api-keys', '/api/v1/api-keys/id-1/revoke'])
  expect(requests[1]?.keepalive).toBe(true)
})

test('a pasted key is used as it is, and never revoked', async () => {
  const { key, paths } = keysAt(0)
  key.paste('pasted')
  expect(await key.get()).toBe('pasted')
  await key.revoke()
  expect(paths()).toEqual([])
})
