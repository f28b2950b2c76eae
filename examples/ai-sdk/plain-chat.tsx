import type { Pause, PauseAnswer } from '@trunkline/sdk'
import { readChatStream, StreamFailedError } from '@trunkline/sdk/chat'
import { useState } from 'react'
import type { Sent } from './message.ts'
import { PauseForm } from './pause-form.tsx'

interface Turn {
  readonly query: string
  readonly reply: string
}

export function PlainChat() {
  const [turns, setTurns] = useState<readonly Turn[]>([])
  const [conversationId, setConversationId] = useState('')
  const [pause, setPause] = useState<Pause>()
  const [error, setError] = useState('')
  const [isBusy, setBusy] = useState(false)

  /** Sends a message, or the answer to the question of the agent, which the visitor sees by the title. */
  const send = async (title: string, answer?: PauseAnswer) => {
    const sent: Sent = { query: answer === undefined ? title : '', conversationId, answer }
    let reply = ''
    setBusy(true)
    setError('')
    setPause(undefined)
    setTurns([...turns, { query: title, reply }])
    try {
      const response = await fetch('/api/plain-chat', { method: 'POST', body: JSON.stringify(sent) })
      for await (const chunk of readChatStream(response)) {
        reply += chunk.choices[0]?.delta.content ?? ''
        setTurns([...turns, { query: title, reply }])
        setConversationId(chunk.id)
        if (chunk.pause) setPause(chunk.pause)
      }
    } catch (failure) {
      const reason = failure instanceof StreamFailedError ? failure.reason : undefined
      // The question is still open, where what was written does not answer it.
      if (reason === 'answer_required') setPause(pause)
      setError(reason === 'pause_over' ? 'This question is over.' : String(failure))
    } finally {
      setBusy(false)
    }
  }

  return (
    <main>
      {turns.map(({ query, reply }, index) => {
        // Turns are only ever added, so that their places are their keys.
        const key = `${index}`
        return (
          <section key={key}>
            <article aria-label="You">{query}</article>
            <article aria-label="Agent">{reply}</article>
          </section>
        )
      })}
      {pause && (
        <PauseForm key={pause.id} pause={pause} onAnswer={(answer, title) => void send(title, answer)} />
      )}
      {error !== '' && <p role="alert">{error}</p>}
      <form
        onSubmit={(event) => {
          event.preventDefault()
          const query = new FormData(event.currentTarget).get('query')
          event.currentTarget.reset()
          void send(String(query))
        }}
      >
        <label>
          Message <input name="query" required />
        </label>
        <button type="submit" disabled={isBusy}>
          Send
        </button>
      </form>
    </main>
  )
}
