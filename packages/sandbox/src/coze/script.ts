import { countTokens } from '../replies/compose-reply.ts'
import type { MadeFile } from '../replies/made-files.ts'
import type { Script } from '../replies/player.ts'
import { tightFrame } from '../replies/sse.ts'
import type { SeenRun } from '../serving/seen.ts'
import { type CozeDialect, type CozeError, cozeData, cozeErrors, cozeRefusal } from './errors.ts'

type Status = 'created' | 'in_progress' | 'completed' | 'failed' | 'requires_action' | 'canceled'

/** One chat, from which its frames, `retrieve` and `message/list` are built. */
export interface CozeChat {
  readonly dialect: CozeDialect
  readonly run: SeenRun
  readonly botId: string
  readonly createdAt: number
  readonly promptTokens: number
  readonly fragments: readonly string[]
  /** The answers of the run; `from` is the index of an answer's first fragment. */
  readonly answers: readonly { readonly id: string; readonly from: number }[]
  /** The answer that consists of files, which comes whole. */
  readonly files: { readonly id: string; readonly files: readonly MadeFile[] } | undefined
  /** How the chat ends unless it is cancelled. */
  readonly end: 'completed' | 'failed' | 'requires_action'
}

export function cozeScript(chat: CozeChat): Script {
  const { dialect, answers } = chat
  const studio = dialect === 'studio'
  const emit = (event: string, data: unknown) =>
    tightFrame(studio ? goJson(data) : JSON.stringify(data), event)
  const state = (status: Status) => emit(`conversation.chat.${status}`, chatObject(chat, status))
  const message = (event: 'delta' | 'completed', id: string, content: string, type = 'answer') =>
    emit(`conversation.message.${event}`, messageObject(chat, { id, type, content }))
  const done = studio ? tightFrame('', 'conversation.stream.done') : tightFrame('"[DONE]"', 'done')

  return {
    streamHeaders: { 'content-type': 'text/event-stream' },
    opening: () => state('created') + state('in_progress'),
    fragment(text, index) {
      const at = answers.findLastIndex(({ from }) => index >= from)
      const { id = '', from = 0 } = answers[at] ?? {}
      const previous = index === from ? answers[at - 1] : undefined
      const completed = previous ? message('completed', previous.id, answerText(chat, at - 1)) : ''
      return completed + message('delta', id, text)
    },
    closing() {
      // A cancelled chat continues to stream; only its last state shows the cancellation.
      if (chat.run.state === 'stopped') return state('canceled') + done
      // coze-studio does not forward this state.
      if (chat.end === 'requires_action') return (studio ? '' : state('requires_action')) + done
      const last = chat.fragments.length > 0 ? answers.at(-1) : undefined
      return (
        (last ? message('completed', last.id, answerText(chat, answers.length - 1)) : '') +
        filesMessages(chat)
          .map((each) => emit('conversation.message.completed', each))
          .join('') +
        (studio ? '' : message('completed', '7433357037570146342', FINISHED, 'verbose')) +
        (studio ? '' : message('completed', '7382159494123470860', '还有别的吗？', 'follow_up')) +
        state('completed') +
        done
      )
    },
    // coze-studio sends neither a failed chat nor an end marker.
    failure: () => (studio ? emit('error', STUDIO_FAILURE) : state('failed') + done),
    // No heartbeat is documented, so this is a comment as proxies send it.
    heartbeat: () => ': ping\n\n',
    blocking: () => cozeData(cozeChatData(chat)),
    blockingFailure: () => cozeRefusal(dialect, cozeErrors[dialect].server),
  }
}

const FINISHED =
  '{"msg_type":"generate_answer_finish","data":"{\\"finish_reason\\":0,\\"FinData\\":\\"\\"}","from_module":null,"from_unit":null}'
const STUDIO_FAILURE: CozeError = {
  code: 103100001,
  msg: 'code=103100001 message=agent run error : model timeout',
}
const CLOUD_FAILURE: CozeError = { code: 5000, msg: 'event interval error' }

/** Returns the chat in its current state. */
export function cozeChatData(chat: CozeChat): object {
  const { state } = chat.run
  return chatObject(chat, state === 'running' ? 'in_progress' : state === 'stopped' ? 'canceled' : chat.end)
}

interface CozeMessage {
  readonly id: string
  readonly [field: string]: unknown
}

/** Returns the chat's messages, or none until it is complete. */
export function cozeMessages(chat: CozeChat): readonly CozeMessage[] {
  if (chat.run.state !== 'finished' || chat.end !== 'completed') return []
  const hasText = chat.files === undefined || chat.fragments.length > 0
  const texts = chat.answers.map(({ id }, at) =>
    messageObject(chat, { id, type: 'answer', content: answerText(chat, at) }),
  )
  return [...(hasText ? texts : []), ...filesMessages(chat)]
}

function filesMessages(chat: CozeChat): readonly CozeMessage[] {
  if (chat.files === undefined) return []
  const { id, files } = chat.files
  const items = files.map(({ type, url }) => ({ type: type === 'image' ? type : 'file', file_url: url }))
  const message = { id, type: 'answer', content: JSON.stringify(items) }
  return [{ ...messageObject(chat, message), content_type: 'object_string' }]
}

function answerText({ answers, fragments }: CozeChat, at: number): string {
  return fragments.slice(answers[at]?.from, answers[at + 1]?.from).join('')
}

function chatObject(chat: CozeChat, status: Status): object {
  const { dialect, run, botId, createdAt } = chat
  const failed = status === 'failed'
  const ended = status === 'completed' || failed
  const ids = { id: run.id, conversation_id: run.conversationId, bot_id: botId, created_at: createdAt }
  if (dialect === 'studio') {
    return {
      ...ids,
      completed_at: ended ? createdAt + 9 : 0,
      failed_at: failed ? createdAt + 9 : 0,
      status: STUDIO_SPELLING[status] ?? status,
      ...(status === 'completed' && { usage: usage(chat) }),
      section_id: run.conversationId,
    }
  }
  return {
    ...ids,
    ...(ended && { completed_at: createdAt + 9 }),
    ...(failed && { failed_at: createdAt + 10 }),
    last_error: failed ? CLOUD_FAILURE : { code: 0, msg: '' },
    status,
    usage: status === 'completed' ? usage(chat) : { token_count: 0, output_count: 0, input_count: 0 },
    section_id: run.conversationId,
    ...(status === 'requires_action' && { required_action: REQUIRED_ACTION }),
  }
}

const STUDIO_SPELLING: Readonly<Partial<Record<Status, string>>> = {
  canceled: 'cancelled',
  requires_action: 'required_action',
}

const REQUIRED_ACTION = {
  type: 'submit_tool_outputs',
  submit_tool_outputs: {
    tool_calls: [
      { id: 'call_7380', type: 'function', function: { name: 'get_order', arguments: '{"id":"A1"}' } },
    ],
  },
}

function usage({ promptTokens, fragments }: CozeChat) {
  const outputs = countTokens(fragments.join(''))
  return { token_count: promptTokens + outputs, output_count: outputs, input_count: promptTokens }
}

function messageObject(
  { dialect, run, botId, createdAt }: CozeChat,
  message: { id: string; type: string; content: string },
): CozeMessage {
  const { id, type, content } = message
  return {
    id,
    conversation_id: run.conversationId,
    bot_id: botId,
    role: 'assistant',
    type,
    content,
    content_type: 'text',
    ...(dialect === 'studio' && { meta_data: {} }),
    chat_id: run.id,
    section_id: run.conversationId,
    ...(dialect === 'studio' && { created_at: createdAt }),
  }
}

/** Serializes JSON as Go does, which escapes characters that are special in HTML or JavaScript. */
function goJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
