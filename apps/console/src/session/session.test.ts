import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type Session, SessionStore } from './session.ts'

const session: Session = {
  accessToken: 'eyJ.token',
  expiresAtMs: 60_000,
  userId: '1',
  username: 'alice',
  role: 'user',
}

function memory(): Storage {
  const items = new Map<string, string>()
  return {
    get length() {
      return items.size
    },
    clear: () => items.clear(),
    key: (index) => [...items.keys()][index] ?? null,
    getItem: (key) => items.get(key) ?? null,
    setItem: (key, value) => void items.set(key, value),
    removeItem: (key) => void items.delete(key),
  }
}

beforeEach(() => {
  vi.useFakeTimers({ now: 0 })
})
afterEach(() => {
  vi.useRealTimers()
})

test('a session is there again after the page is reloaded', () => {
  const storage = memory()
  new SessionStore(storage).set(session)
  expect(new SessionStore(storage).current).toEqual(session)
})

test('a session whose token has expired is gone, and its listeners are called once', () => {
  const storage = memory()
  const store = new SessionStore(storage)
  store.set(session)
  let calls = 0
  store.subscribe(() => {
    calls += 1
  })
  vi.setSystemTime(60_000)
  expect([store.current, store.current, storage.length, calls]).toEqual([undefined, undefined, 0, 1])
})

test.each(['', 'null', '{', '{"accessToken":1}', '{"accessToken":"x"}'])('%j is no session', (stored) => {
  const storage = memory()
  storage.setItem('trunkline.session', stored)
  expect(new SessionStore(storage).current).toBeUndefined()
})
