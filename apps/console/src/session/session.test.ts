import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type Session, SessionStore } from './session.ts'

const session: Session = {
  id: 'a1',
  accessToken: 'eyJ.token',
  expiresAtMs: 60_000,
  userId: '1',
  username: 'alice',
  role: 'user',
  warnAtMs: 45_000,
}

/** A storage whose values have at most so many characters. */
function memory(valueMax = 1_000): Storage {
  const items = new Map<string, string>()
  return {
    get length() {
      return items.size
    },
    clear: () => items.clear(),
    key: (index) => [...items.keys()][index] ?? null,
    getItem: (key) => items.get(key) ?? null,
    setItem(key, value) {
      if (value.length > valueMax) throw new DOMException('full', 'QuotaExceededError')
      items.set(key, value)
    },
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
  expect(store.ended).toBe('expired')
})

test('a renewed session keeps its items and does not end, and late refusals of the old token are known', () => {
  const storage = memory()
  const store = new SessionStore(storage)
  store.set(session)
  store.setItem('chat', 'hello')
  const ends = vi.fn()
  store.onEnd(ends)
  store.renew({ ...session, accessToken: 'new', expiresAtMs: 3_600_000 })
  expect([store.current?.accessToken, store.getItem('chat'), store.hasReplacedToken]).toEqual([
    'new',
    'hello',
    true,
  ])
  expect(ends).not.toHaveBeenCalled()
  vi.setSystemTime(120_000)
  expect(store.hasReplacedToken).toBe(false)
})

test.each(['', 'null', '{', '{"accessToken":1}', '{"accessToken":"x"}'])(
  'the stored text %j is no session',
  (stored) => {
    const storage = memory()
    storage.setItem('trunkline.session', stored)
    expect(new SessionStore(storage).current).toBeUndefined()
  },
)

test('items of a session are there again after a reload, and end with it, when others may still read them', () => {
  const storage = memory()
  const store = new SessionStore(storage)
  store.set(session)
  store.setItem('chat', 'hello')
  storage.setItem('of another', 'stays')
  const reloaded = new SessionStore(storage)
  expect(reloaded.getItem('chat')).toBe('hello')
  const atEnd: (string | undefined)[] = []
  reloaded.onEnd(() => atEnd.push(reloaded.getItem('chat')))
  reloaded.end('loggedOut')
  reloaded.end('expired')
  expect(reloaded.ended).toBe('loggedOut')
  reloaded.setItem('chat', 'too late')
  expect([atEnd, reloaded.getItem('chat'), storage.length]).toEqual([['hello'], undefined, 1])
})

test('a new session finds no items of one that ended while no page was open', () => {
  const storage = memory()
  const store = new SessionStore(storage)
  store.set(session)
  store.setItem('chat', 'hello')
  storage.removeItem('trunkline.session')
  expect(new SessionStore(storage).getItem('chat')).toBeUndefined()
})

test('an item of a session that does not fit says so, and is no failure', () => {
  const store = new SessionStore(memory(200))
  store.set(session)
  expect([store.setItem('chat', 'x'.repeat(201)), store.setItem('chat', 'x')]).toEqual([false, true])
})
