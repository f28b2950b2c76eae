import { type Answer, Refusal } from '../serving/answer.ts'
import { addTurn, type Conversation, newConversation, type Turn } from '../serving/conversations.ts'
import type { SentFile } from '../serving/list-files.ts'
import { asText, type JsonRecord } from '../serving/narrow.ts'
import type { Run } from '../serving/runs.ts'
import { difyError, difyErrors, difyJson } from './errors.ts'
import type { DifyRun } from './script.ts'

/** A message of any app: those of text generators belong to no conversation that can be named. */
interface Message {
  readonly turn: Turn
  readonly user: string
  readonly run: Run
}

const MESSAGES_MAX = 10_000
const LIMIT = { default: 20, max: 100 }

/** The messages of Dify's apps, each with its question and its answer. */
export class DifyMessages {
  readonly #messages = new Map<string, Message>()

  add(conversation: Conversation | undefined, ids: DifyRun, run: Run, files: readonly SentFile[]): void {
    const { messageId: id, query, replacement, user } = ids
    const answer = () => replacement ?? run.text
    const turn = addTurn(conversation ?? newConversation(''), { id, questionId: id, query, files, answer })
    this.#messages.set(id, { turn, user, run })
    const oldest = this.#messages.keys().next()
    if (this.#messages.size > MESSAGES_MAX && !oldest.done) this.#messages.delete(oldest.value)
  }

  /** The newest messages of a conversation, or those before `first_id`, the oldest of them first. */
  list({ id, turns }: Conversation, query: URLSearchParams): Answer {
    const limit = limitOf(query.get('limit'))
    const firstId = query.get('first_id')
    const end = firstId ? turns.findIndex((turn) => turn.id === firstId) : turns.length
    if (end < 0) throw new Refusal(difyError(404, 'not_found', 'First Message Not Exists.'))
    const begin = Math.max(0, end - limit)
    const data = turns
      .slice(begin, end)
      .map((turn, index) => this.#record(id, turn, turns[begin + index - 1]))
    return difyJson(200, { limit, has_more: begin > 0, data })
  }

  /** Rates an answer, or takes the rating back: `rating: null`. */
  rate(id: string, user: string, { rating, content }: JsonRecord): Answer {
    const message = this.#messages.get(id)
    if (message?.user !== user) throw new Refusal(difyError(404, 'not_found', 'Message Not Exists.'))
    const { turn } = message
    if (rating !== 'like' && rating !== 'dislike' && rating !== null && rating !== undefined)
      throw new Refusal(difyError(400, 'invalid_param', "Input should be 'like' or 'dislike'"))
    const rated = rating === 'like' ? 'up' : rating === 'dislike' ? 'down' : undefined
    if (rated === undefined && turn.rating === undefined) throw new Refusal(NOT_RATED)
    turn.rating = rated
    turn.comment = rated === undefined ? undefined : asText(content) || undefined
    return difyJson(200, { result: 'success' })
  }

  /** What is known of the messages of a conversation that is deleted. */
  forget({ turns }: Conversation): void {
    for (const { id } of turns) this.#messages.delete(id)
  }

  #record(conversationId: string, turn: Turn, parent: Turn | undefined) {
    const { rating } = turn
    return {
      id: turn.id,
      conversation_id: conversationId,
      parent_message_id: parent?.id ?? null,
      inputs: {},
      query: turn.query,
      answer: turn.answer(),
      message_files: turn.files.map((url, index) => ({
        id: `${turn.id}-${index}`,
        filename: url.split(/[?#]/, 1)[0]?.split('/').at(-1) ?? '',
        type: 'document',
        url,
        belongs_to: 'user',
        transfer_method: 'remote_url',
      })),
      feedback: rating === undefined ? null : { rating: rating === 'up' ? 'like' : 'dislike' },
      retriever_resources: [],
      created_at: turn.createdAt,
      agent_thoughts: [],
      status: this.#messages.get(turn.id)?.run.state === 'paused' ? 'paused' : 'normal',
      error: null,
      extra_contents: [],
    }
  }
}

const NOT_RATED = difyError(400, 'invalid_param', 'rating cannot be None when feedback not exists')

function limitOf(text: string | null): number {
  if (text === null) return LIMIT.default
  const limit = Number(text)
  if (Number.isInteger(limit) && limit >= 1 && limit <= LIMIT.max) return limit
  const message = '1 validation error for MessageListQuery\nlimit\n  Input should be between 1 and 100'
  throw new Refusal(difyError(400, 'invalid_param', message))
}

/** @throws Refusal if there is none of this user */
export function conversationOf(found: Conversation | undefined, user: string): Conversation {
  if (found === undefined || found.owner !== user) throw new Refusal(difyErrors['not-found'])
  return found
}
