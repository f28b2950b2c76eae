import { TrunklineError } from '@trunkline/sdk'
import { expect, test } from 'vitest'
import { SessionKeys } from '../../../session/session-keys.ts'
import { PlaygroundKey } from './playground-key.ts'

const MINUTE_MS = 60_000

/** What a session keeps beside its token. */
function items() {
  const kept = new Map<string, string>()
  return {
    getItem: (name: string) => kept.get(name),
    setItem(name: string, text: string | undefined) {
      if (text === undefined) kept.delete(name)
      else kept.set(name, text)
      return true
    },
  }
}

/** A gateway as far as keys are concerned, with a clock that the test moves. */
function keysAt(startMs: number) {
  const requests: Record<string, unknown>[] = []
  const store = items()
  let nowMs = startMs
  /** The key as a page has it that was just loaded. */
  const open = (agent = 'dify') =>
    new PlaygroundKey({
      baseURL: 'http://gateway.example.com',
      agent,
      keys: new SessionKeys(store),
      accessToken: () => 'token',
      now: () => nowMs,
      async fetch(_input, init) {
        requests.push(typeof init?.body === 'string' ? JSON.parse(init.body) : {})
        const data = { id: `id-${requests.length}`, full_key: `key-${requests.length}` }
        return Response.json({ code: 0, msg: 'Success', data })
      },
    })
  return { open, requests, store, pass: (ms: number) => (nowMs += ms) }
}

test('one key serves a message and a file that need it at the same time, and the pages after a reload', async () => {
  const { open, requests } = keysAt(0)
  const key = open()
  expect(await Promise.all([key.get(), key.get()])).toEqual(['key-1', 'key-1'])
  expect(await key.get()).toBe('key-1')
  expect([open().current, await open().get()]).toEqual(['key-1', 'key-1'])
  expect(requests).toEqual([
    {
      name: 'playground dify',
      description: "Made by the console's playground",
      expires_at: '1970-01-01T01:00:00.000Z',
      permissions: ['chat', 'upload'],
      allowed_agents: ['dify'],
    },
  ])
  expect(await open('coze').get()).toBe('key-2')
  expect(await key.get()).toBe('key-1')
})

test('another key is made while one is valid for less time than a call may take, but not in the middle of an answer', async () => {
  const { open, pass, store } = keysAt(0)
  const key = open()
  await key.get()
  pass(39 * MINUTE_MS)
  expect(await key.get()).toBe('key-1')
  const release = key.hold()
  pass(2 * MINUTE_MS)
  expect(await key.get()).toBe('key-1')
  release()
  expect(await key.get()).toBe('key-2')
  // A logout revokes both.
  expect(new SessionKeys(store).all.map(({ id }) => id)).toEqual(['id-1', 'id-2'])
})

test('a key that has expired reads no reply, and is forgotten with the next one', async () => {
  const { open, pass, store } = keysAt(0)
  const key = open()
  await key.get()
  pass(60 * MINUTE_MS)
  expect(key.current).toBeUndefined()
  key.hold()
  expect(await key.get()).toBe('key-2')
  expect(new SessionKeys(store).all.map(({ id }) => id)).toEqual(['id-2'])
})

test('a key that the gateway has refused is replaced, and no other failure replaces it', async () => {
  const { open } = keysAt(0)
  const key = open()
  await key.get()
  expect(key.refused(new TrunklineError('busy', { status: 503, reason: 'unavailable' }))).toBe(false)
  expect(await key.get()).toBe('key-1')
  expect(key.refused(new TrunklineError('revoked', { status: 401, reason: 'key_revoked' }))).toBe(true)
  expect(await key.get()).toBe('key-2')
})

test('a pasted key is used as it is, and is not stored', async () => {
  const { open, requests, store } = keysAt(0)
  const key = open()
  key.paste('pasted')
  expect([await key.get(), key.current]).toEqual(['pasted', 'pasted'])
  expect([requests, new SessionKeys(store).all]).toEqual([[], []])
  expect(key.refused(new TrunklineError('revoked', { status: 401, reason: 'key_revoked' }))).toBe(false)
})

test.each(['{', 'null', '[1, {"id": "x"}]'])('an item of the session with %j holds no keys', (text) => {
  const store = items()
  store.setItem('keys', text)
  expect(new SessionKeys(store).all).toEqual([])
})
