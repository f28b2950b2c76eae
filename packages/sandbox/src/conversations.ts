export interface Conversation {
  readonly id: string
  /** The end user it belongs to, once known. */
  owner: string | undefined
  /** Every question asked so far, which is all that a reply needs to show that it remembers. */
  readonly questions: string[]
  /** What an interactive pause offered; the next question answers it. */
  offered: readonly string[] | undefined
}

const KEPT = 10_000

/** The conversations of one emulator; the oldest go once there are 10,000. */
export class Conversations {
  readonly #kept = new Map<string, Conversation>()

  find(id: string): Conversation | undefined {
    return this.#kept.get(id)
  }

  create(id: string, owner?: string): Conversation {
    const conversation = newConversation(id, owner)
    this.#kept.set(id, conversation)
    const oldest = this.#kept.keys().next()
    if (this.#kept.size > KEPT && !oldest.done) this.#kept.delete(oldest.value)
    return conversation
  }
}

export function newConversation(id: string, owner?: string): Conversation {
  return { id, owner, questions: [], offered: undefined }
}
