import { useChat } from '@ai-sdk/react'
import { DefaultChatTransport, type UIMessage } from 'ai'
import { useState } from 'react'

/** The route sends the id of the conversation with each answer. */
type Message = UIMessage<{ conversationId?: string }>

const transport = new DefaultChatTransport<Message>({
  api: '/api/chat',
  // The agent remembers the conversation, so that it gets the last message alone.
  prepareSendMessagesRequest: ({ messages }) => ({
    body: { query: textOf(messages.at(-1)), conversationId: conversationOf(messages) },
  }),
})

function textOf(message: Message | undefined): string {
  return (message?.parts ?? []).map((part) => (part.type === 'text' ? part.text : '')).join('')
}

function conversationOf(messages: readonly Message[]): string | undefined {
  return messages.findLast(({ metadata }) => metadata?.conversationId)?.metadata?.conversationId
}

export function Chat() {
  const { messages, sendMessage, status, stop, error } = useChat<Message>({ transport })
  const [query, setQuery] = useState('')
  const isBusy = status === 'submitted' || status === 'streaming'

  return (
    <main>
      {messages.map((message) => (
        <article key={message.id} aria-label={message.role === 'user' ? 'You' : 'Agent'}>
          {message.parts.map((part, index) => {
            // Parts are only ever added, so that their places are their keys.
            const key = `${message.id}-${index}`
            if (part.type === 'reasoning')
              return (
                <details key={key}>
                  <summary>Reasoning</summary>
                  {part.text}
                </details>
              )
            return part.type === 'text' ? <p key={key}>{part.text}</p> : null
          })}
        </article>
      ))}
      {error !== undefined && <p role="alert">{error.message}</p>}
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (query.trim() === '' || isBusy) return
          setQuery('')
          void sendMessage({ text: query })
        }}
      >
        <label>
          Message <input value={query} onChange={(event) => setQuery(event.target.value)} />
        </label>
        {isBusy ? (
          <button type="button" onClick={stop}>
            Stop
          </button>
        ) : (
          <button type="submit">Send</button>
        )}
      </form>
    </main>
  )
}
