import type { SentFile } from './list-files.ts'
import type { Run } from './runs.ts'

/** A run that waits for the next question of its conversation, which is the answer. */
export interface ConversationPause {
  readonly run: Run
  readonly asks: 'choice' | 'fields'
  /** Whether another choice follows the answer. */
  readonly again: boolean
}

/** A question with its answer, as the platform keeps them. */
export interface Turn {
  /** Of the answer. */
  readonly id: string
  readonly questionId: string
  readonly query: string
  /** The URLs of what the user sent with it. */
  readonly files: readonly string[]
  /** In seconds. */
  readonly createdAt: number
  /** What has been said so far. */
  answer(): string
  rating: 'up' | 'down' | undefined
  /** What the user has said of the answer. */
  comment: string | undefined
}

export interface Conversation {
  readonly id: string
  /** The end user that the conversation belongs to, once known. */
  owner: string | undefined
  /** All questions so far; replies quote them to show that the context was kept. */
  readonly questions: string[]
  /** The last ones. */
  readonly turns: Turn[]
  name: string | undefined
  pause: ConversationPause | undefined
}

const CONVERSATIONS_MAX = 10_000
const TURNS_MAX = 200

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

  /** Finds a turn by its id among those of one end user. */
  findTurn(id: string, owner: string): Turn | undefined {
    for (const conversation of this.#conversations.values()) {
      const found = conversation.owner === owner && conversation.turns.find((turn) => turn.id === id)
      if (found) return found
    }
    return undefined
  }

  delete(id: string): void {
    this.#conversations.delete(id)
  }
}

export function newConversation(id: string, owner?: string): Conversation {
  return { id, owner, questions: [], turns: [], name: undefined, pause: undefined }
}

/** Keeps a turn that begins now. */
export function addTurn(
  { turns }: Pick<Conversation, 'turns'>,
  told: Pick<Turn, 'id' | 'questionId' | 'query' | 'answer'> & { readonly files?: readonly SentFile[] },
): Turn {
  const { files = [], ...turn } = told
  const urls = files.flatMap((file) => ('url' in file && !file.url.startsWith('data:') ? [file.url] : []))
  const createdAt = Math.floor(Date.now() / 1_000)
  const kept: Turn = { ...turn, files: urls, createdAt, rating: undefined, comment: undefined }
  turns.push(kept)
  if (turns.length > TURNS_MAX) turns.shift()
  return kept
}

/** Takes the pause that the next question answers, if its run got as far as the pause. */
export function takePause(conversation: Conversation): ConversationPause | undefined {
  const { pause } = conversation
  conversation.pause = undefined
  return pause?.run.state === 'paused' ? pause : undefined
}
