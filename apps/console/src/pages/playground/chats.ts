import { sessionKeys, sessions } from '../../session/gateway.ts'
import { ChatSession } from './chat-session.ts'
import { PlaygroundKey } from './playground-key.ts'
import { parseChat, type StoredChat, serializedChat } from './stored-chat.ts'

/** The chats of this page by agent. They go on while other views are shown. */
const chats = new Map<string, ChatSession>()
const keys = new Map<string, PlaygroundKey>()

/** Whether the page is being left: the requests that this breaks off are no failures. */
let isLeaving = false

window.addEventListener('pagehide', () => {
  for (const chat of chats.values()) chat.save()
  isLeaving = true
})
// Browsers may show a page again that was left.
window.addEventListener('pageshow', () => {
  isLeaving = false
})
sessions.onEnd(() => {
  for (const chat of chats.values()) chat.close()
  chats.clear()
  keys.clear()
})

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

/** The chat with an app of an agent: the one that is going on, one from before a reload, or a new one. */
export function chatOf(agent: string, app: string, keepsConversation: boolean): ChatSession {
  const chat = chats.get(agent)
  if (chat?.app === app) return chat
  chat?.close()
  const stored = parseChat(sessions.getItem(itemOf(agent)))
  const opened = new ChatSession({
    baseURL: location.origin,
    agent,
    app,
    keepsConversation,
    key: keyOf(agent),
    stored: stored?.app === app ? stored : undefined,
    save: (saved) => save(agent, saved),
  })
  chats.set(agent, opened)
  return opened
}

/** Ends the chat with an agent, so that the next one is new. */
export function endChat(agent: string): void {
  chats.get(agent)?.close()
  chats.delete(agent)
  sessions.setItem(itemOf(agent), undefined)
}

function save(agent: string, chat: StoredChat): void {
  if (isLeaving || chat.turns.length === 0) return
  for (const text of serializedChat(chat)) if (sessions.setItem(itemOf(agent), text)) return
}

const itemOf = (agent: string) => `chat.${agent}`
