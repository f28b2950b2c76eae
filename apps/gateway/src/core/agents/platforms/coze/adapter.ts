import Type from 'typebox'
import type { Adapter, ReplyState } from '#core/agents/adapter.ts'
import { section, text } from '#core/agents/entry-schema.ts'
import type { ChatEvent } from '#core/agents/events.ts'
import { defaultApp } from '#core/agents/translate/default-app.ts'
import { detail } from '#core/agents/translate/detail-event.ts'
import {
  errorEvents,
  failureOf,
  MALFORMED,
  refusalReader,
  unreadableBody,
} from '#core/agents/translate/failure.ts'
import { FrameParser, isEndMarker } from '#core/agents/translate/frame-parser.ts'
import { helperCall, probeCall } from '#core/agents/translate/helper-call.ts'
import { multipartPost } from '#core/agents/translate/multipart-post.ts'
import { bearer, jsonPost } from '#core/agents/translate/plain-requests.ts'
import { idOf, isPlatformId, platformIdOf } from '#core/agents/translate/platform-id.ts'
import { errorIn } from '#core/agents/translate/replies/error-shape.ts'
import { endFailure, finishMeaning } from '#core/agents/translate/replies/finish-words.ts'
import { usageOf } from '#core/agents/translate/replies/token-counts.ts'
import { stringValues } from '#core/agents/translate/string-values.ts'
import { textEvent } from '#core/agents/translate/text-event.ts'
import { uploadCall } from '#core/agents/translate/upload-call.ts'
import { isObject, type JsonObject, objectOf, parseJson, textOf } from '#core/base/values/json.ts'
import { contentIn, contentOf } from './content.ts'
import { cozeConversations } from './conversations.ts'
import { cozeCode, cozeFailure, isCozeFileRefusal } from './failures.ts'

/** Bot ids must be quoted in the configuration file, because as numbers they would lose their last digits. */
const ENTRY = {
  agent: section({
    botId: Type.Optional(
      text({
        perDeployment: true,
        description: 'The bot that answers calls without `app_id`. Ids that consist of digits need quotes.',
        examples: ['7342866812345678901'],
      }),
    ),
  }),
  app: section({
    botId: Type.Optional(
      text({
        perDeployment: true,
        description: 'The bot that answers for this app.',
        whenAbsent: 'the id of the app',
      }),
    ),
  }),
}

interface CozeState extends ReplyState {
  readonly frames: FrameParser
  /** The conversation id that the request named. */
  readonly requestedConversationId: string | undefined
  /** Answers already sent in pieces, whose repetition as a whole is skipped. */
  readonly streamedAnswers: Set<string>
  lastAnswer: string | undefined
}

/**
 * Coze: both clouds (coze.com, coze.cn) and the self-hosted coze-studio, including their workflow endpoints.
 * Always requests a stream, because a blocking chat returns at once without an answer and would have to be
 * polled. The first chat creates the conversation, since a separate call would cost every new conversation a
 * round trip. Ids are 64-bit numbers encoded as strings and stay strings, because JavaScript numbers would
 * round them.
 *
 * Not supported: a plugin's local tools, whose outputs clients cannot submit, and audio and cards, which are
 * not text. A token of the other region is reported as `agent_credentials`, like any invalid token.
 */
export const coze: Adapter<typeof ENTRY, CozeState> = {
  platform: 'coze',
  displayName: 'Coze',
  entry: ENTRY,
  entryRequires: ['apiKey'],
  apiUrl: (baseUrl) => baseUrl.replace(/\/v[13]$/, ''),
  appIdHint: 'which is the number of a bot in the address of its page in Coze',
  requires: (agent) =>
    agent.options.botId === undefined && defaultApp(agent) === undefined ? ['app_id'] : [],
  takesAppIds: true,
  features: () => ({ stream: true, detail: true, files: true, conversation: true, usage: true, stop: true }),
  context: () => 'platform',
  // Coze fetches http(s) URLs alone.
  takesDataUrls: false,

  buildRequest(call) {
    const { platformConversationId } = call
    const query =
      platformConversationId === undefined
        ? ''
        : `?conversation_id=${encodeURIComponent(platformConversationId)}`
    return jsonPost(`${call.agent.apiUrl}/v3/chat${query}`, bearer(call), {
      bot_id: call.app?.options.botId ?? call.app?.id ?? (call.appId.trim() || call.agent.options.botId),
      user_id: call.endUser,
      stream: true,
      auto_save_history: true,
      additional_messages: [{ role: 'user', type: 'question', ...contentOf(call) }],
      custom_variables: stringValues(call.variables),
    })
  },

  start: ({ platformConversationId }) => ({
    frames: new FrameParser(),
    requestedConversationId: platformConversationId,
    streamedAnswers: new Set(),
    lastAnswer: undefined,
  }),

  translate({ event, data }, state) {
    // The data differs (the cloud sends a quoted `[DONE]` or an object, coze-studio nothing), so only the
    // name counts.
    if (event === 'done' || event === 'conversation.stream.done') return END
    if (data === '') return []
    // Proxies in front of a platform add it.
    if (isEndMarker(data)) return END
    const json = state.frames.parse(data)
    if (json === undefined) return event === 'error' ? errorEvents(refusal({ msg: data }, state)) : MALFORMED
    const frame = objectOf(json)
    const error = event === undefined ? errorIn(json, false) : undefined
    if (error !== undefined) return errorEvents(refusal(withMsg(error), state))
    return isReplaced(frame, state) ? errorEvents(REPLACED) : translateFrame(event, frame, state)
  },

  translateBody(body, state) {
    if (!isObject(body)) {
      const error = errorIn(body, false)
      return error === undefined ? unreadableBody(body) : errorEvents(refusal(withMsg(error), state, true))
    }
    const chat = objectOf(body.data)
    if (cozeCode(body.code) !== 0) return errorEvents(refusal(body, state, true))
    return isReplaced(chat, state) ? errorEvents(REPLACED) : chatChanged(chat.status, chat, state)
  },

  finish: () => [],

  toFailure: refusalReader((error, reply) => cozeFailure(error, { ...reply, isWhole: true })),

  uploadFile: (call, file) =>
    uploadCall(
      file,
      multipartPost(`${call.agent.apiUrl}/v1/files/upload`, bearer(call), file),
      coze.toFailure,
      (body) => (cozeCode(body.code) === 0 ? objectOf(body.data).id : undefined),
    ),

  isFileRefusal: isCozeFileRefusal,

  // The call does not close a running stream, so the caller must close the connection as well.
  stop(call, { runId, platformConversationId }) {
    if (runId === undefined || platformConversationId === undefined) return undefined
    return helperCall(
      jsonPost(`${call.agent.apiUrl}/v3/chat/cancel`, bearer(call), {
        conversation_id: platformConversationId,
        chat_id: runId,
      }),
      coze.toFailure,
      (body) => (cozeCode(body.code) === 0 ? { ok: undefined } : undefined),
    )
  },

  conversations: () => cozeConversations,

  probe: (agent) =>
    probeCall(
      { method: 'GET', url: `${agent.apiUrl}/v1/users/me`, headers: bearer({ agent }) },
      coze.toFailure,
      (body) => cozeCode(body.code) === 0,
    ),
}

const ANSWERS_MAX = 1_000

const END: readonly ChatEvent[] = [{ type: 'end', reason: 'stop' }]

/** coze-studio silently replaces an unknown conversation with a new one. */
const REPLACED = failureOf('conversation_not_found', { code: 'conversation_replaced' })

function isReplaced({ conversation_id }: JsonObject, { requestedConversationId }: CozeState): boolean {
  const id = idOf(conversation_id)
  return requestedConversationId !== undefined && id !== undefined && id !== requestedConversationId
}

function translateFrame(
  event: string | undefined,
  frame: JsonObject,
  state: CozeState,
): readonly ChatEvent[] {
  switch (event) {
    case 'conversation.message.delta':
      learnIds(frame.conversation_id, frame.chat_id, state)
      if (frame.type !== 'answer') return []
      learnAnswer(frame.id, state)
      return answerPiece(frame, state)
    case 'conversation.message.completed':
      learnIds(frame.conversation_id, frame.chat_id, state)
      return messageCompleted(frame, state)
    case 'error':
      return errorEvents(refusal(withMsg(errorIn(frame, false) ?? frame), state))
    // The following three come from workflow endpoints.
    case 'Message':
      return textEvent('text', frame.content)
    case 'Error':
      return errorEvents(refusal({ code: frame.error_code, msg: frame.error_message }, state))
    // It can be continued only by an endpoint of workflows.
    case 'Interrupt':
      return errorEvents(failureOf('agent_requires_action', { code: 'interrupt' }))
    case 'Done':
      return END
    default:
      return event?.startsWith(CHAT) === true
        ? chatChanged(statusOf(event.slice(CHAT.length), frame), frame, state)
        : []
  }
}

const CHAT = 'conversation.chat.'

/** The event names the status of the chat; where the chat itself has a worse one, that is what became of it. */
function statusOf(named: string, { status }: JsonObject): string {
  const own = textOf(status)
  return own !== undefined && !['stop', 'none'].includes(finishMeaning(own)) ? own : named
}

function learnIds(conversationId: unknown, runId: unknown, state: CozeState): void {
  const conversation = idOf(conversationId)
  const run = idOf(runId)
  if (conversation !== undefined) state.platformConversationId = conversation
  if (run !== undefined) state.runId = run
}

/** Of several answers the last one stands for all. */
function learnAnswer(id: unknown, state: CozeState): void {
  const answerId = platformIdOf(id)
  if (answerId !== undefined) state.answerId = answerId
}

/** An error of another shape, with its text where Coze has it. */
function withMsg(error: JsonObject): JsonObject {
  return 'msg' in error ? error : { ...error, msg: error.message }
}

function refusal(body: JsonObject, { requestedConversationId }: CozeState, isWhole = false) {
  return cozeFailure(body, { hasConversation: requestedConversationId !== undefined, isWhole })
}

/**
 * `created` and `in_progress` yield no event: an error may still follow, and it should get its own HTTP
 * status.
 */
function chatChanged(status: unknown, chat: JsonObject, state: CozeState): readonly ChatEvent[] {
  learnIds(chat.conversation_id, chat.id, state)
  const tokens = usageOf(objectOf(chat.usage))
  switch (status) {
    case 'completed':
      return [...tokens, ...END]
    // Not by this gateway, which does not read a reply any more once its client has left.
    case 'canceled':
    case 'cancelled':
      return [...tokens, ...endFailure('stopped', status)]
    case 'failed':
      return errorEvents(refusal(isObject(chat.last_error) ? chat.last_error : chat, state))
    // Cloud and coze-studio spell it differently.
    case 'requires_action':
    case 'required_action':
      return errorEvents(failureOf('agent_requires_action', { code: status }))
    default:
      return otherStatus(textOf(status))
  }
}

/** A status that the table of words has, or that says by its parts that the run did not end by itself. */
function otherStatus(status: string | undefined): readonly ChatEvent[] {
  const meaning = status === undefined ? 'none' : finishMeaning(status)
  return status !== undefined && (meaning === 'failed' || meaning === 'stopped')
    ? endFailure(meaning, status)
    : []
}

function messageCompleted(message: JsonObject, state: CozeState): readonly ChatEvent[] {
  const { id, type, content } = message
  switch (type) {
    case 'answer':
      learnAnswer(id, state)
      return state.streamedAnswers.has(idOf(id) ?? '') ? [] : answerPiece(message, state)
    case 'function_call': {
      const call = parseJson(content)
      return [
        detail(isObject(call) ? { ...call, id } : message, (step) => {
          // What is no call in JSON is all that is known of it.
          if (!isObject(call)) step.keep('content')
          return {
            type: 'tool_call',
            id: step.text('id'),
            name: step.text('name'),
            data: { arguments: step.jsonText('arguments') },
          }
        }),
      ]
    }
    case 'tool_output':
    case 'tool_response':
      return [
        detail(message, (step) => ({
          type: 'tool_result',
          id: step.text('id'),
          data: { output: step.text('content') ?? '' },
        })),
      ]
    case 'knowledge':
      return [
        detail(message, (step) => {
          const text = step.text('content')
          return {
            type: 'sources',
            id: step.text('id'),
            data: { items: text === undefined ? [] : [{ text }] },
          }
        }),
      ]
    case 'verbose':
      // The content is left out, because it may be retrieved knowledge or internal to the platform.
      return [
        detail({ ...objectOf(parseJson(content)), id }, (step) => ({
          type: 'other',
          id: step.text('id'),
          name: step.text('msg_type'),
          data: {},
        })),
      ]
    case 'follow_up':
      return [
        detail(message, (step) => {
          step.keep('content')
          return { type: 'other', id: step.text('id'), name: type, data: {} }
        }),
      ]
    default:
      return []
  }
}

function answerPiece(message: JsonObject, state: CozeState): readonly ChatEvent[] {
  const text = textEvent('text', contentIn(message))
  const reasoning = textEvent('reasoning', message.reasoning_content)
  if (text.length === 0) return reasoning
  const id = idOf(message.id) ?? ''
  if (!isPlatformId(id)) return MALFORMED
  const isNext = state.lastAnswer !== undefined && state.lastAnswer !== id
  // The bound protects memory from a run that never ends; answers beyond it may be sent twice.
  if (state.streamedAnswers.size < ANSWERS_MAX) state.streamedAnswers.add(id)
  state.lastAnswer = id
  // A file has a line of its own anyway.
  const separates = isNext && text[0]?.type !== 'file'
  return [...reasoning, ...(separates ? [{ type: 'text' as const, text: '\n\n' }] : []), ...text]
}
