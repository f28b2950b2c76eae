import { sessionKeys, sessions } from '../../../session/gateway.ts'
import { ChatSession } from './chat-session.ts'
import { ChatStore } from './chat-store.ts'
import { ChatsOfUser } from './chats-of-user.ts'
import { PlaygroundKey } from './playground-key.ts'

/** The chats of the user who is logged in. Another user of this browser has others. */
let current: { readonly userId: string; readonly chats: ChatsOfUser } | undefined
const keys = new Map<string, PlaygroundKey>()

/** Whether the page is being left: the requests that this breaks off are no failures. */
let isLeaving = false

window.addEventListener('pagehide', () => {
  current?.chats.leave()
  isLeaving = true
})
// Browsers may show a page again that was left.
window.addEventListener('pageshow', () => {
  isLeaving = false
})
sessions.onEnd(() => {
  // The same user has logged in again before the session ended.
  if (current !== undefined && sessions.current?.userId === current.userId) return
  current?.chats.close()
  current = undefined
  keys.clear()
})

/** In the storage of the tab, which is written at once. */
const UNSAVED = 'chats'

/** A message among the tabs of this browser: that a chat has changed, which tab is reading its answer, or that all are deleted. */
type Message = { readonly userId: string } & Content
type Content =
  | { readonly type: 'changed' | 'who reads' | 'reading'; readonly chatId: string }
  | { readonly type: 'cleared' }

const channel = new BroadcastChannel('trunkline.chats')
const readElsewhere = new Set<(chatId: string) => void>()
/** Other tabs answer at once, also those whose timers are throttled because they are hidden. */
const ANSWERED_WITHIN_MS = 300

channel.addEventListener('message', ({ data }: MessageEvent<Message>) => {
  if (data.userId !== current?.userId) return
  const { chats } = current
  if (data.type === 'cleared') return void chats.takeClearing()
  const { chatId, type } = data
  if (type === 'who reads') {
    if (chats.opened(chatId)?.isRunning === true) tell({ type: 'reading', chatId })
  } else if (type === 'reading') for (const hear of readElsewhere) hear(chatId)
  else void chats.takeChange(chatId)
})

function tell(message: Content): void {
  if (current !== undefined) channel.postMessage({ ...message, userId: current.userId })
}

/** Whether another tab is reading an answer of this chat, so that this one need not. */
export async function isReadElsewhere(chatId: string): Promise<boolean> {
  return await new Promise((resolve) => {
    const end = (isRead: boolean) => {
      clearTimeout(timer)
      readElsewhere.delete(hear)
      resolve(isRead)
    }
    const hear = (heardId: string) => {
      if (heardId === chatId) end(true)
    }
    const timer = setTimeout(() => end(false), ANSWERED_WITHIN_MS)
    readElsewhere.add(hear)
    tell({ type: 'who reads', chatId })
  })
}

export function keyOf(agent: string): PlaygroundKey {
  const key =
    keys.get(agent) ??
    new PlaygroundKey({
      baseURL: location.origin,
      agent,
      keys: sessionKeys,
      accessToken: () => sessions.current?.accessToken,
    })
  keys.set(agent, key)
  return key
}

/** The chats of a user, who must be the one that is logged in. */
export function chatsOf(userId: string): ChatsOfUser {
  if (current?.userId === userId) return current.chats
  current?.chats.close()
  const chats = new ChatsOfUser({
    userId,
    openStore: () => ChatStore.open(),
    tellChange: (chatId) => tell({ type: 'changed', chatId }),
    tellCleared: () => tell({ type: 'cleared' }),
    handOver: {
      take: () => sessions.getItem(UNSAVED),
      leave: (text) => void sessions.setItem(UNSAVED, text),
    },
    newSession: ({ save, ...chat }) =>
      new ChatSession({
        ...chat,
        baseURL: location.origin,
        key: keyOf(chat.agent),
        save(session) {
          if (!isLeaving) save(session)
        },
      }),
  })
  current = { userId, chats }
  return chats
}
