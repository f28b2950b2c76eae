import type { Pause, PauseAnswer } from '@trunkline/sdk'
import type { UIMessage } from 'ai'

interface Metadata {
  /** The route sends the id of the conversation with each answer of the agent. */
  readonly conversationId?: string
  /** Of the visitor's message, what it answers to a question of the agent. */
  readonly answer?: PauseAnswer
}

/** The route sends a question at which the agent waits as a part `data-pause`. */
export type Message = UIMessage<Metadata, { pause: Pause }>

/** What the page sends to its route. */
export interface Sent {
  readonly query: string
  readonly conversationId?: string | undefined
  readonly answer?: PauseAnswer | undefined
}

/** The last message alone, since the agent remembers the conversation. */
export function sentOf(messages: readonly Message[]): Sent {
  const message = messages.at(-1)
  const answer = message?.metadata?.answer
  const conversationId = messages.findLast(({ metadata }) => metadata?.conversationId)?.metadata
    ?.conversationId
  // What the visitor sees as the text of such a message is the option, which the answer has by its id.
  return { query: answer === undefined ? textOf(message) : '', conversationId, answer }
}

function textOf(message: Message | undefined): string {
  return (message?.parts ?? []).map((part) => (part.type === 'text' ? part.text : '')).join('')
}

/** The question at which the agent waits: it is open until the next message. */
export function openPause(messages: readonly Message[]): Pause | undefined {
  return messages.at(-1)?.parts.find((part) => part.type === 'data-pause')?.data
}
