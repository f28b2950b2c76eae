import { useEffect, useMemo, useRef, useState } from 'react'
import { addItem, NO_REPLY, type Sent } from '../../reply.ts'
import { Chat as ChatDocument } from '../documents.ts'
import { fieldsOf } from '../form.ts'
import { createChatClient, extensionsOf } from './client.ts'

export function Chat({ apiKey }: { apiKey: string }) {
  const client = useMemo(() => createChatClient(apiKey), [apiKey])
  const [reply, setReply] = useState(NO_REPLY)
  const [failure, setFailure] = useState<string>()
  const running = useRef<{ unsubscribe(): void }>(null)
  // Leaving the page stops the agent.
  useEffect(() => () => running.current?.unsubscribe(), [])

  // A chat is something that the user does, so it begins here. A hook would begin it by showing the component.
  function send(sent: Sent) {
    // The agent remembers the messages of a conversation; without its id each would begin a new one.
    const { conversationId } = reply
    running.current?.unsubscribe()
    setReply({ ...NO_REPLY, conversationId })
    setFailure(undefined)
    running.current = client
      .subscription(ChatDocument, { input: { agentId: 'fastgpt', appId: 'app-1', conversationId, ...sent } })
      .subscribe(({ data, error }) => {
        if (error !== undefined) setFailure(extensionsOf(error)?.code ?? error.message)
        else if (data != null) setReply((before) => addItem(before, data))
      })
  }

  return (
    <section>
      <h2>Chat</h2>
      <form onSubmit={(event) => send({ query: fieldsOf(event)('query') })}>
        <label>
          Message <input name="query" required />
        </label>
        <button type="submit">Send</button>
      </form>
      <p aria-live="polite">{reply.text}</p>
      {reply.pause?.options.map(({ optionId, title }) => (
        <button
          key={optionId}
          type="button"
          onClick={() => send({ query: '', answer: { pauseId: reply.pause?.pauseId ?? '', optionId } })}
        >
          {title}
        </button>
      ))}
      {reply.isFinished && <p role="status">The reply is complete.</p>}
      {failure !== undefined && <p role="alert">{failure}</p>}
    </section>
  )
}
