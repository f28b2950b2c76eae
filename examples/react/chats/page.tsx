import { useCallback, useEffect, useState } from 'react'
import { fieldsOf } from '../form.ts'
import type { Chat, Chats, Message, Rating } from './chats.ts'

/** A sidebar with the chats that there are, and the one that is open. */
export function ChatPage({ chats }: { chats: Chats }) {
  const [list, setList] = useState<readonly Chat[]>([])
  const [open, setOpen] = useState<Chat>()
  const [messages, setMessages] = useState<readonly Message[]>([])
  const [before, setBefore] = useState<string | null>(null)
  const [isBusy, setIsBusy] = useState(false)
  const [failure, setFailure] = useState<string>()

  const refresh = useCallback(async () => setList(await chats.list()), [chats])
  useEffect(() => void refresh(), [refresh])

  /** Does one thing at a time, and says why it has failed. */
  async function act(work: () => Promise<void>) {
    setIsBusy(true)
    setFailure(undefined)
    await work().catch((error: unknown) => setFailure(error instanceof Error ? error.message : String(error)))
    setIsBusy(false)
  }

  const begin = () => {
    setOpen(undefined)
    setMessages([])
    setBefore(null)
  }
  const show = (chat: Chat) =>
    act(async () => {
      const page = await chats.messages(chat.id)
      setOpen(chat)
      setMessages(page.messages)
      setBefore(page.before)
    })
  const showOlder = (chat: Chat, last: string) =>
    act(async () => {
      const page = await chats.messages(chat.id, last)
      setMessages((newer) => [...page.messages, ...newer])
      setBefore(page.before)
    })
  const ask = (query: string) =>
    act(async () => {
      const said = (role: Message['role'], text: string): Message => {
        return { id: `${role}-${Date.now()}`, role, text, callId: null, rating: null }
      }
      const [question, answer] = [said('user', query), said('assistant', '')]
      setMessages((before) => [...before, question, answer])
      const update = (more: Partial<Message>) =>
        setMessages((all) => all.map((each) => (each.id === answer.id ? { ...each, ...more } : each)))
      const { conversation, callId } = await chats.ask(open?.conversation, query, (text) => update({ text }))
      update({ callId })
      if (open !== undefined) return
      // A new conversation is listed within a second after its first answer.
      await new Promise((resolve) => setTimeout(resolve, 1_000))
      const listed = await chats.list()
      setList(listed)
      setOpen(listed.find((chat) => chat.conversation === conversation))
    })
  const rename = (chat: Chat) =>
    act(async () => {
      const name = prompt('Name', chat.name ?? '')
      if (!name) return
      await chats.rename(chat.id, name)
      setOpen({ ...chat, name })
      await refresh()
    })
  const remove = (chat: Chat) =>
    act(async () => {
      await chats.remove(chat.id)
      begin()
      await refresh()
    })
  const rate = (callId: string, rating: Rating | null) =>
    act(async () => {
      await chats.rate(callId, rating)
      setMessages((all) => all.map((each) => (each.callId === callId ? { ...each, rating } : each)))
    })

  return (
    <div className="chats">
      <nav aria-label="Your chats">
        <button type="button" onClick={begin}>
          New chat
        </button>
        <ul>
          {list.map((chat) => (
            <li key={chat.id}>
              <button type="button" aria-current={chat.id === open?.id} onClick={() => show(chat)}>
                {chat.name ?? chat.conversation}
              </button>
            </li>
          ))}
        </ul>
      </nav>
      <section aria-label="Chat" aria-busy={isBusy}>
        {open !== undefined && (
          <p>
            <button type="button" disabled={isBusy} onClick={() => rename(open)}>
              Rename
            </button>
            <button type="button" disabled={isBusy} onClick={() => remove(open)}>
              Delete
            </button>
            {before !== null && (
              <button type="button" disabled={isBusy} onClick={() => showOlder(open, before)}>
                Older messages
              </button>
            )}
          </p>
        )}
        {messages.map(({ id, role, text, callId, rating }) => (
          <article key={id} aria-label={role === 'user' ? 'You' : 'Agent'}>
            <p>{text}</p>
            {callId !== null &&
              (['up', 'down'] as const).map((thumb) => (
                <button
                  type="button"
                  key={thumb}
                  aria-label={thumb === 'up' ? 'Good answer' : 'Bad answer'}
                  aria-pressed={rating === thumb}
                  onClick={() => rate(callId, rating === thumb ? null : thumb)}
                >
                  {thumb === 'up' ? '👍' : '👎'}
                </button>
              ))}
          </article>
        ))}
        {failure !== undefined && <p role="alert">{failure}</p>}
        <form
          onSubmit={(event) => {
            const query = fieldsOf(event)('query')
            event.currentTarget.reset()
            void ask(query)
          }}
        >
          <label>
            Message <input name="query" required disabled={isBusy} />
          </label>
          <button type="submit" disabled={isBusy}>
            Send
          </button>
        </form>
      </section>
    </div>
  )
}
