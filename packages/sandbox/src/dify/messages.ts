import type { Answer } from '../serving/answer.ts'
import { Refusal } from '../serving/answer.ts'
import type { Run } from '../serving/runs.ts'
import { difyError, difyJson } from './errors.ts'
import type { DifyRun } from './script.ts'

interface Message {
  readonly ids: DifyRun
  readonly run: Run
}

const CONVERSATIONS_MAX = 10_000
const LIMIT = { default: 20, max: 100 }

/** The messages of Dify's conversations, each with its question and its answer. */
export class DifyMessages {
  readonly #conversations = new Map<string, Message[]>()

  add(conversationId: string, ids: DifyRun, run: Run): void {
    const messages = this.#conversations.get(conversationId)
    if (messages) return void messages.push({ ids, run })
    this.#conversations.set(conversationId, [{ ids, run }])
    const oldest = this.#conversations.keys().next()
    if (this.#conversations.size > CONVERSATIONS_MAX && !oldest.done) this.#conversations.delete(oldest.value)
  }

  /** The newest messages of a conversation, or those before `first_id`, the oldest of them first. */
  list(conversationId: string, query: URLSearchParams): Answer {
    const limit = limitOf(query.get('limit'))
    const all = this.#conversations.get(conversationId) ?? []
    const firstId = query.get('first_id')
    const end = firstId ? all.findIndex(({ ids }) => ids.messageId === firstId) : all.length
    if (end < 0) throw new Refusal(difyError(404, 'not_found', 'First Message Not Exists.'))
    const begin = Math.max(0, end - limit)
    const data = all.slice(begin, end).map((message, index) => record(message, all[begin + index - 1]))
    return difyJson(200, { limit, has_more: begin > 0, data })
  }
}

function limitOf(text: string | null): number {
  if (text === null) return LIMIT.default
  const limit = Number(text)
  if (Number.isInteger(limit) && limit >= 1 && limit <= LIMIT.max) return limit
  const message = '1 validation error for MessageListQuery\nlimit\n  Input should be between 1 and 100'
  throw new Refusal(difyError(400, 'invalid_param', message))
}

function record({ ids, run }: Message, parent: Message | undefined) {
  return {
    id: ids.messageId,
    conversation_id: ids.conversationId,
    parent_message_id: parent?.ids.messageId ?? null,
    inputs: {},
    query: ids.query,
    answer: ids.replacement ?? run.text,
    message_files: [],
    feedback: null,
    retriever_resources: [],
    created_at: ids.createdAt,
    agent_thoughts: [],
    status: run.state === 'paused' ? 'paused' : 'normal',
    error: null,
    extra_contents: [],
  }
}
