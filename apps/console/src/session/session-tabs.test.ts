import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type Session, SessionStore } from './session.ts'
import { type Channel, SessionTabs } from './session-tabs.ts'

const alice: Session = {
  id: 'of alice',
  accessToken: 'token of alice',
  expiresAtMs: 60_000,
  warnAtMs: 45_000,
  userId: '1',
  username: 'alice',
  role: 'user',
}
const bob: Session = { ...alice, id: 'of bob', accessToken: 'token of bob', userId: '2', username: 'bob' }

type Listener = (event: { readonly data: unknown }) => void

let listeners: { readonly by: Channel; readonly listener: Listener }[] = []
let sent = 0

/** As a `BroadcastChannel`: all other tabs get a message, as a copy. */
function channel(): Channel {
  const own: Channel = {
    postMessage(message) {
      sent += 1
      const data: unknown = structuredClone(message)
      for (const { by, listener } of listeners) if (by !== own) listener({ data })
    },
    addEventListener: (_type, listener) => void listeners.push({ by: own, listener }),
  }
  return own
}

function open(session?: Session) {
  const items = new Map<string, string>()
  const store = new SessionStore({
    get length() {
      return items.size
    },
    clear: () => items.clear(),
    key: (index) => [...items.keys()][index] ?? null,
    getItem: (key) => items.get(key) ?? null,
    setItem: (key, value) => void items.set(key, value),
    removeItem: (key) => void items.delete(key),
  })
  const tabs = new SessionTabs(store, channel())
  if (session !== undefined) store.set(session)
  return { store, tabs }
}

beforeEach(() => {
  listeners = []
  sent = 0
  vi.useFakeTimers({ now: 0 })
})
afterEach(() => {
  vi.useRealTimers()
})

test('a tab gets the session of another one, and one that is alone waits only a moment', async () => {
  const first = open(alice)
  const second = open()
  expect(second.store.current).toBeUndefined()
  await second.tabs.ask()
  expect(second.store.current).toEqual(alice)
  first.store.end('loggedOut')
  const third = open()
  const asked = third.tabs.ask()
  await vi.advanceTimersByTimeAsync(100)
  await asked
  expect(third.store.current).toBeUndefined()
})

test('a login reaches tabs without a session, and no tab of another user', () => {
  const other = open(bob)
  const none = open()
  open(alice)
  expect([none.store.current, other.store.current]).toEqual([alice, bob])
})

test('a logout ends the tabs of the same login alone, and says why', async () => {
  const first = open(alice)
  const second = open()
  await second.tabs.ask()
  const other = open(bob)
  // A tab that logs out notifies the others first, and needs its token until the gateway has ended it.
  first.tabs.endOthers()
  expect([first.store.current, second.store.current]).toEqual([alice, undefined])
  first.store.end('loggedOut')
  expect([second.store.current, second.store.ended]).toEqual([undefined, 'loggedOutElsewhere'])
  expect(other.store.current).toEqual(bob)
})

test('a renewed token reaches the tabs of the same login, once', async () => {
  const first = open(alice)
  const second = open()
  await second.tabs.ask()
  const other = open(bob)
  sent = 0
  const renewed = { ...alice, accessToken: 'new', expiresAtMs: 120_000 }
  first.store.renew(renewed)
  expect([second.store.current, other.store.current, sent]).toEqual([renewed, bob, 1])
})

test.each([null, 'x', {}, { kind: 'session', session: { accessToken: 'x' } }, { kind: 'end' }])(
  'the message %j of a page of another version changes nothing',
  (message) => {
    const { store } = open(alice)
    for (const { listener } of listeners) listener({ data: message })
    expect(store.current).toEqual(alice)
  },
)
