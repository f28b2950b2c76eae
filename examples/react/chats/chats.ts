/** A conversation in the list. */
export interface Chat {
  /** The id by which the gateway knows it. */
  readonly id: string
  /** The id by which a chat goes on with it. */
  readonly conversation: string
  readonly name: string | null
}

export interface Message {
  readonly id: string
  readonly role: 'user' | 'assistant'
  readonly text: string
  /** The call that gave an answer, which is rated by it. */
  readonly callId: string | null
  readonly rating: Rating | null
}

export type Rating = 'up' | 'down'

/** What the page needs of a client. */
export interface Chats {
  /** The chats that were used last. */
  list(): Promise<readonly Chat[]>
  /** A page of messages, the newest first; `before` names the one before it. */
  messages(id: string, before?: string): Promise<{ messages: readonly Message[]; before: string | null }>
  /** Asks, in a new conversation if none is named, and shows the answer as it grows. */
  ask(
    conversation: string | undefined,
    query: string,
    show: (answer: string) => void,
  ): Promise<{ conversation: string; callId: string | null }>
  rename(id: string, name: string): Promise<void>
  remove(id: string): Promise<void>
  /** Null takes a rating back. */
  rate(callId: string, rating: Rating | null): Promise<void>
}
