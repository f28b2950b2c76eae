import { expect, test, vi } from 'vitest'
import { ChatSession } from './chat-session.ts'
import type { ChatRecord, ChatStore, Draft, StoredTurns } from './chat-store.ts'
import { CHATS_MAX, ChatsOfUser } from './chats-of-user.ts'
import { PlaygroundKey } from './playground-key.ts'

/** What a browser keeps, in place of IndexedDB. `room` is the number of chats for which it has room. */
function browser(room = Number.POSITIVE_INFINITY) {
  const records = new Map<string, ChatRecord>()
  const turns = new Map<string, Map<string, object>>()
  const drafts = new Map<string, Draft>()
  const store = {
    list: async (userId: string) => [...records.values()].filter((record) => record.userId === userId),
    turns: async (chatId: string) => [...(turns.get(chatId)?.values() ?? [])],
    drafts: async () => drafts,
    async save(record: ChatRecord, changed: StoredTurns, gone: readonly string[]) {
      if (!records.has(record.id) && records.size >= room) throw new DOMException('', 'QuotaExceededError')
      records.set(record.id, record)
      const rows = turns.get(record.id) ?? new Map()
      for (const [id, turn] of changed) rows.set(id, structuredClone(turn))
      for (const id of gone) rows.delete(id)
      turns.set(record.id, rows)
    },
    async remove(_userId: string, ids: readonly string[]) {
      for (const id of ids) records.delete(id)
    },
    removeDrafts: async () => drafts.clear(),
    async saveDraft(_userId: string, name: string, draft: Draft) {
      drafts.set(name, draft)
    },
  }
  return { store: store as unknown as ChatStore, records, turns, drafts }
}

let handedOver: string | undefined

function chatsOf(userId: string, store: ChatStore | undefined) {
  return new ChatsOfUser({
    userId,
    openStore: async () => store,
    tellChange: () => undefined,
    tellCleared: () => undefined,
    handOver: {
      take: () => handedOver,
      leave(text) {
        handedOver = text
      },
    },
    newSession: (chat) =>
      new ChatSession({
        ...chat,
        baseURL: 'http://gateway.example.com',
        key: new PlaygroundKey({
          baseURL: 'http://gateway.example.com',
          agent: chat.agent,
          keys: { newest: () => undefined, add: () => undefined, forget: () => undefined },
          accessToken: () => 'token',
          fetch: async () => Response.json({}, { status: 500 }),
        }),
        schedule: (draw) => draw(),
      }),
  })
}

/** Asks in a new chat; the answer is a failure, which is stored as well. */
async function ask(chats: ChatsOfUser, query: string): Promise<string> {
  const session = chats.begin({ agent: 'dify', app: '', keepsConversation: true })
  await session.send(query, [])
  return session.id
}

const titles = (chats: ChatsOfUser) => chats.view.list.map(({ title }) => title)

test('a chat is there again for its user, and for no other', async () => {
  const { store } = browser()
  const chats = chatsOf('alice', store)
  await chats.loaded
  const id = await ask(chats, '  What is\n a gateway? ')
  chats.setDraft(id, { text: 'half a' })
  chats.close()

  const later = chatsOf('alice', store)
  await later.loaded
  expect(titles(later)).toEqual(['What is a gateway?'])
  expect((await later.open(id, true))?.turns).toMatchObject([
    { state: 'failed', query: '  What is\n a gateway? ' },
  ])
  expect(later.draft(id).text).toBe('half a')
  later.rename(id, 'Renamed')
  await later.opened(id)?.send('More', [])
  expect(titles(later)).toEqual(['Renamed'])

  const other = chatsOf('bob', store)
  await other.loaded
  expect(other.view.list).toEqual([])
  expect(await other.open(id, true)).toBeUndefined()
})

test('what a page has not stored when it is left is stored by the next one', async () => {
  const { store, records, drafts } = browser()
  const chats = chatsOf('alice', store)
  await chats.loaded
  const never = vi.spyOn(store, 'save').mockReturnValue(new Promise(() => undefined))
  void ask(chats, 'Asked at last')
  chats.setDraft('new dify', { text: 'half a' })
  chats.leave()
  expect([records.size, drafts.size]).toEqual([0, 0])
  never.mockRestore()

  const next = chatsOf('alice', store)
  await next.loaded
  expect(titles(next)).toEqual(['Asked at last'])
  expect(next.draft('new dify').text).toBe('half a')
  expect(handedOver).toBeUndefined()
})

test('only what has changed of a chat is stored again', async () => {
  const { store } = browser()
  const chats = chatsOf('alice', store)
  await chats.loaded
  const id = await ask(chats, 'One')
  const saved = vi.spyOn(store, 'save')
  await chats.opened(id)?.send('Two', [])
  const stored = saved.mock.calls.flatMap(([, changed]) => [...changed.values()] as { query: string }[])
  expect(new Set(stored.map(({ query }) => query))).toEqual(new Set(['Two']))
})

test('the chats that were used least recently make room, also where the browser has none', async () => {
  vi.useFakeTimers()
  const { store, records } = browser()
  const chats = chatsOf('alice', store)
  await chats.loaded
  for (let number = 1; number <= CHATS_MAX + 2; number++) {
    await ask(chats, `Question ${number}`)
    vi.advanceTimersByTime(1_000)
  }
  expect(records.size).toBe(CHATS_MAX)
  expect([titles(chats).at(0), titles(chats).at(-1)]).toEqual([`Question ${CHATS_MAX + 2}`, 'Question 3'])

  const small = browser(2)
  const few = chatsOf('alice', small.store)
  await few.loaded
  for (const query of ['One', 'Two', 'Three']) {
    await ask(few, query)
    await vi.advanceTimersByTimeAsync(1_000)
  }
  expect([...small.records.values()].map(({ title }) => title)).toEqual(['Two', 'Three'])
  expect(few.view.kept).toBe('browser')
  vi.useRealTimers()
})

test('without any room, and without a store, chats go on in memory, and the list says so', async () => {
  const full = chatsOf('alice', browser(0).store)
  await full.loaded
  await ask(full, 'One')
  await expect.poll(() => full.view.kept).toBe('full')
  expect(titles(full)).toEqual(['One'])

  const none = chatsOf('alice', undefined)
  await none.loaded
  const id = await ask(none, 'One')
  expect(none.view.kept).toBe('memory')
  expect((await none.open(id, true))?.turns).toHaveLength(1)
})

test('nothing of what was deleted comes back with what is still running', async () => {
  const { store, records, drafts } = browser()
  const chats = chatsOf('alice', store)
  await chats.loaded
  const id = await ask(chats, 'One')
  chats.setDraft('new dify', { text: 'half' })
  const session = chats.opened(id)
  const sent = session?.send('Two', [])
  await chats.clear()
  await sent
  session?.save()
  chats.close()
  expect([records.size, drafts.size, titles(chats)]).toEqual([0, 0, []])
})

test('where the browser keeps nothing, a page that is left hands nothing over either', async () => {
  const chats = chatsOf('alice', undefined)
  await chats.loaded
  await ask(chats, 'one')
  expect([titles(chats), chats.view.kept]).toEqual([['one'], 'memory'])
  chats.leave()
  expect(handedOver).toBeUndefined()
})
