import { useChat } from '@ai-sdk/react'
import { DefaultChatTransport } from 'ai'
import { ChatView } from './chat-view.tsx'
import { type Message, sentOf } from './message.ts'

const transport = new DefaultChatTransport<Message>({
  api: '/api/chat',
  prepareSendMessagesRequest: ({ messages }) => ({ body: sentOf(messages) }),
})

export function Chat() {
  const { messages, sendMessage, status, stop, error } = useChat<Message>({ transport })
  return (
    <ChatView
      messages={messages}
      status={status}
      error={error}
      onSend={(text) => void sendMessage({ text })}
      onAnswer={(answer, text) => void sendMessage({ text, metadata: { answer } })}
      onStop={stop}
    />
  )
}
