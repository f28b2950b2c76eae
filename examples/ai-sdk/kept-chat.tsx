import { useChat } from '@ai-sdk/react'
import { DefaultChatTransport } from 'ai'
import { useState } from 'react'
import { ChatView } from './chat-view.tsx'
import { type Message, sentOf } from './message.ts'

const api = '/api/kept-chat'

/** A reload keeps the storage of its tab. A page whose server stores the messages reads and writes them there instead. */
const saved = (): Message[] => JSON.parse(sessionStorage.getItem('messages') ?? '[]')
const save = (messages: readonly Message[]) => sessionStorage.setItem('messages', JSON.stringify(messages))

/** The question that has no whole answer yet. */
function openQuestion(messages: readonly Message[]): Message | undefined {
  const last = messages.at(-1)
  return last?.role === 'user' ? last : undefined
}

const transport = new DefaultChatTransport<Message>({
  api,
  prepareSendMessagesRequest: ({ messages }) => {
    // Before it is sent, so that a page which is loaded from now on knows what to ask for.
    save(messages)
    return { body: { id: openQuestion(messages)?.id, ...sentOf(messages) } }
  },
  prepareReconnectToStreamRequest: () => ({ api: `${api}?id=${openQuestion(saved())?.id ?? ''}` }),
})

export function KeptChat() {
  const [initialMessages] = useState(saved)
  const { messages, sendMessage, status, stop, error } = useChat<Message>({
    transport,
    messages: initialMessages,
    // The id of a question names its answer, so nobody may guess it. Pages without TLS have no `randomUUID`.
    generateId: () => crypto.getRandomValues(new Uint32Array(4)).join('-'),
    // Asks for an answer that is missing: when the page is loaded, and when it is shown again after its connection was lost.
    resume: true,
    // An answer that the visitor leaves or that breaks off is asked for again by the next page.
    onFinish: ({ messages, isAbort, isError }) => {
      if (!isAbort && !isError) save(messages)
    },
  })

  /** Leaving stops nothing, so that Stop must say so. What there is of the answer stays. */
  const stopAnswer = () => {
    const question = openQuestion(saved())
    void stop()
    save(messages)
    void fetch(`${api}?id=${question?.id}`, { method: 'DELETE', keepalive: true })
  }
  return (
    <ChatView
      messages={messages}
      status={status}
      error={error}
      onSend={(text) => void sendMessage({ text })}
      onAnswer={(answer, text) => void sendMessage({ text, metadata: { answer } })}
      onStop={stopAnswer}
    />
  )
}
