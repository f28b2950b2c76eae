import { useChat } from '@ai-sdk/react'
import { DefaultChatTransport } from 'ai'
import { ChatView } from './chat-view.tsx'
import { conversationOf, type Message, textOf } from './message.ts'

const transport = new DefaultChatTransport<Message>({
  api: '/api/chat',
  // The agent remembers the conversation, so that it gets the last message alone.
  prepareSendMessagesRequest: ({ messages }) => ({
    body: { query: textOf(messages.at(-1)), conversationId: conversationOf(messages) },
  }),
})

export function Chat() {
  const { messages, sendMessage, status, stop, error } = useChat<Message>({ transport })
  const send = (text: string) => void sendMessage({ text })
  return <ChatView messages={messages} status={status} error={error} onSend={send} onStop={stop} />
}
