import type { PauseAnswer } from '@trunkline/sdk'
import type { ChatStatus } from 'ai'
import { useState } from 'react'
import { type Message, openPause } from './message.ts'
import { PauseForm } from './pause-form.tsx'

interface ChatViewProps {
  readonly messages: readonly Message[]
  readonly status: ChatStatus
  readonly error: Error | undefined
  readonly onSend: (query: string) => void
  readonly onAnswer: (answer: PauseAnswer, title: string) => void
  readonly onStop: () => void
}

/** What the visitor sees of a chat. */
export function ChatView({ messages, status, error, onSend, onAnswer, onStop }: ChatViewProps) {
  const [query, setQuery] = useState('')
  const isBusy = status === 'submitted' || status === 'streaming'
  const pause = isBusy ? undefined : openPause(messages)

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
      {pause !== undefined && <PauseForm key={pause.id} pause={pause} onAnswer={onAnswer} />}
      {error !== undefined && <p role="alert">{error.message}</p>}
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (query.trim() === '' || isBusy) return
          setQuery('')
          onSend(query)
        }}
      >
        <label>
          Message <input value={query} onChange={(event) => setQuery(event.target.value)} />
        </label>
        {isBusy ? (
          <button type="button" onClick={onStop}>
            Stop
          </button>
        ) : (
          <button type="submit">Send</button>
        )}
      </form>
    </main>
  )
}
