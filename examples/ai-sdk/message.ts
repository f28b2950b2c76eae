import type { UIMessage } from 'ai'

/** The route sends the id of the conversation with each answer. */
export type Message = UIMessage<{ conversationId?: string }>

export function textOf(message: Message | undefined): string {
  return (message?.parts ?? []).map((part) => (part.type === 'text' ? part.text : '')).join('')
}

export function conversationOf(messages: readonly Message[]): string | undefined {
  return messages.findLast(({ metadata }) => metadata?.conversationId)?.metadata?.conversationId
}
