import type { Run } from './runs.ts'

/** A run that waits for the next question of its conversation, which is the answer. */
export interface ConversationPause {
  readonly run: Run
  readonly asks: 'choice' | 'fields'
  /** Whether another choice follows the answer. */
  readonly again: boolean
}

export interface Conversation {
  readonly id: string
  /** The end user that the conversation belongs to, once known. */
  owner: string | undefined
  /** All questions so far; replies quote them to show that the context was kept. */
  readonly questions: string[]
  pause: ConversationPause | undefined
}

const CONVERSATIONS_MAX = 10_000

/** The conversations of one emulator. The oldest is dropped when there are more than 10,000. */
export class Conversations {
  readonly #conversations = new Map<string, Conversation>()

  find(id: string): Conversation | undefined {
    return this.#conversations.get(id)
  }

  create(id: string, owner?: string): Conversation {
    const conversation = newConversation(id, owner)
    this.#conversations.set(id, conversation)
    const oldest = this.#conversations.keys().next()
    if (this.#conversations.size > CONVERSATIONS_MAX && !oldest.done) this.#conversations.delete(oldest.value)
    return conversation
  }
}

export function newConversation(id: string, owner?: string): Conversation {
  return { id, owner, questions: [], pause: undefined }
}

/** Takes the pause that the next question answers, if its run got as far as the pause. */
export function takePause(conversation: Conversation): ConversationPause | undefined {
  const { pause } = conversation
  conversation.pause = undefined
  return pause?.run.state === 'paused' ? pause : undefined
}
