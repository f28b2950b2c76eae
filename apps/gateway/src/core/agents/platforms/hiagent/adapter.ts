import type { Adapter, FileByUrl, ReplyState } from '#core/agents/adapter.ts'
import { NO_OPTIONS } from '#core/agents/entry-schema.ts'
import type { ChatEvent } from '#core/agents/events.ts'
import { textOfAnswer } from '#core/agents/pause.ts'
import { detail, type StepFields } from '#core/agents/translate/detail-event.ts'
import { errorEvents, failureOf, MALFORMED, unreadableBody } from '#core/agents/translate/failure.ts'
import { filesByUrl } from '#core/agents/translate/files-by-url.ts'
import { FrameParser, isEndMarker } from '#core/agents/translate/frame-parser.ts'
import { helperCall, probeCall } from '#core/agents/translate/helper-call.ts'
import { idOf, platformIdOf } from '#core/agents/translate/platform-id.ts'
import { errorIn } from '#core/agents/translate/replies/error-shape.ts'
import { endEvents, finishMeaning, finishWordIn } from '#core/agents/translate/replies/finish-words.ts'
import { pauseEvents } from '#core/agents/translate/replies/pause-events.ts'
import { usageOf } from '#core/agents/translate/replies/token-counts.ts'
import { stringValues } from '#core/agents/translate/string-values.ts'
import { textEvent } from '#core/agents/translate/text-event.ts'
import { textOfQuestion } from '#core/agents/translate/text-of-question.ts'
import { isObject, type JsonObject, listOf, objectOf, textOf } from '#core/base/values/json.ts'
import { hiagentConversations } from './conversations.ts'
import { bodyFailure, hiagentRefusal } from './failures.ts'
import { isError, lenient, post, withoutNull } from './wire.ts'

interface HiAgentState extends ReplyState {
  readonly frames: FrameParser
  hasText: boolean
  /** Whether a further output has begun after one with text. */
  isNextAnswer: boolean
}

/**
 * Volcengine HiAgent, the AppKey API. A conversation must be created before the first message; replies
 * contain a different id for it, which is of no use. Always requests a stream, because proxies cut long
 * blocking calls. HiAgent is closed source and its error codes are unpublished, so errors are classified by
 * the words in them; files are passed by URL alone.
 */
export const hiagent: Adapter<typeof NO_OPTIONS, HiAgentState> = {
  platform: 'hiagent',
  displayName: 'HiAgent',
  entry: NO_OPTIONS,
  entryRequires: ['apiKey'],
  apiUrl: (baseUrl) => `${baseUrl.replace(/\/api\/proxy\/api\/v1$/, '')}/api/proxy/api/v1`,
  requires: () => ['conversation_id'],
  takesAppIds: false,
  features: () => ({ stream: true, detail: true, files: true, conversation: true, usage: true, stop: true }),
  context: () => 'platform',
  takesDataUrls: false,

  buildRequest(call) {
    const { platformConversationId, answer, files } = call
    return post(call, 'chat_query_v2', {
      AppConversationID: platformConversationId,
      Query: answer === undefined ? textOfQuestion(call) : textOfAnswer(answer),
      ResponseMode: 'streaming',
      QueryExtends: files.length === 0 ? undefined : { Files: filesByUrl(files).map(fileInfo) },
    })
  },

  start: () => ({
    frames: new FrameParser(),
    hasText: false,
    isNextAnswer: false,
  }),

  translate({ event, data }, state) {
    // Version 1 of the API sends the prefix twice.
    const payload = data.replace(/^(?:data:\s*)+/, '')
    if (payload === '') return []
    // Proxies in front of a platform add it.
    if (isEndMarker(payload)) return [END]
    const json = state.frames.parse(payload)
    if (json === undefined) return event === 'error' ? failedRun({ Message: payload }) : MALFORMED
    const frame = objectOf(json)
    learnIds(frame, state)
    if (event === 'error' || frame.event === undefined) {
      const error = isError(frame) ? undefined : errorIn(json, frame.answer !== undefined)
      if (error !== undefined) return failedRun({ Code: error.code, Message: error.message })
    }
    return translateFrame(frame, state)
  },

  translateBody(body, state) {
    const reply = withoutNull(body)
    if (!isObject(reply)) {
      const error = errorIn(reply, false)
      return error === undefined
        ? unreadableBody(reply)
        : failedRun({ Code: error.code, Message: error.message })
    }
    learnIds(reply, state)
    if (reply.answer === undefined || reply.answer === null || isError(reply))
      return errorEvents(bodyFailure(reply, { isWhole: true }))
    const thoughts = listOf(reply.think_messages).flatMap((thought) => textEvent('reasoning', thought))
    return [...thoughts, ...text(reply.answer, state), ...endOf(reply)]
  },

  finish: () => [],

  toFailure: hiagentRefusal,

  createConversation: (call) =>
    lenient(
      helperCall(
        post(call, 'create_conversation', { Inputs: stringValues(call.variables) }),
        hiagentRefusal,
        (body) => {
          const platformConversationId = textOf(objectOf(body.Conversation).AppConversationID)
          return platformConversationId === undefined ? undefined : { ok: { platformConversationId } }
        },
      ),
    ),

  stop(call, { runId, messageId }) {
    if (runId === undefined || messageId === undefined) return undefined
    const request = post(call, 'stop_message', { TaskID: runId, MessageID: messageId })
    return lenient(
      helperCall(request, hiagentRefusal, (body) => (isError(body) ? undefined : { ok: undefined })),
    )
  },

  conversations: () => hiagentConversations,

  probe(agent) {
    const request = post({ agent, app: undefined, endUser: 'probe' }, 'get_app_config_preview', {})
    return lenient(probeCall(request, hiagentRefusal, (body) => !isError(body)))
  },
}

/** `Path` and `Size` apply to uploaded files only. */
function fileInfo({ name, url }: FileByUrl): object {
  return { Name: name, Path: '', Size: 0, Url: url }
}

function learnIds(frame: JsonObject, state: HiAgentState): void {
  const runId = idOf(frame.task_id)
  const messageId = idOf(frame.id)
  if (runId !== undefined) state.runId = runId
  if (messageId !== undefined) state.messageId = messageId
  const answerId = platformIdOf(messageId)
  if (answerId !== undefined) state.answerId = answerId
}

function translateFrame(frame: JsonObject, state: HiAgentState): readonly ChatEvent[] {
  switch (frame.event) {
    case 'message':
      return text(frame.answer, state)
    case 'message_output_start':
      state.isNextAnswer = state.hasText
      return []
    case 'think_message':
      return textEvent('reasoning', frame.answer)
    case 'message_cost':
      return usageOf(frame)
    case 'message_end':
      return endOf(frame)
    case 'message_failed':
    case 'agent_error':
      return errorEvents(failureOf('agent_error', { code: frame.event }))
    case 'interrupted':
      return [
        ...pauseEvents(
          { question: textOf(frame.interrupted_msg) ?? '', options: [], fields: [], takesText: true },
          detail(frame, (step) => ({
            type: 'interaction',
            name: step.text('interrupted_type'),
            data: { question: step.text('interrupted_msg'), options: [] },
          })),
        ),
        END,
      ]
    default:
      return isError(frame) ? errorEvents(bodyFailure(frame, { isWhole: false })) : progress(frame)
  }
}

function text(value: unknown, state: HiAgentState): readonly ChatEvent[] {
  const events = textEvent('text', value)
  if (events.length === 0) return events
  const separator: readonly ChatEvent[] = state.isNextAnswer ? [{ type: 'text', text: '\n\n' }] : []
  state.isNextAnswer = false
  state.hasText = true
  return [...separator, ...events]
}

const END: ChatEvent = { type: 'end', reason: 'stop' }

/** The model's own word for the end, where the event hands it through. */
function endOf(frame: JsonObject): readonly ChatEvent[] {
  const word = finishWordIn(frame) ?? finishWordIn(objectOf(frame.metadata))
  // Its tools are called by HiAgent itself, so that the client has no call to answer.
  const meaning = word === undefined ? 'none' : finishMeaning(word)
  return word === undefined || meaning === 'none' || meaning === 'tool_calls' ? [END] : endEvents(word)
}

function failedRun(error: JsonObject): readonly ChatEvent[] {
  return errorEvents(bodyFailure({ ResponseMetadata: { Error: error } }, { isWhole: false }))
}

/** Events reported as progress without their data, because retrieved knowledge is not shown to clients. */
const PROGRESS =
  /^(?:knowledge_|qa_|terminology_|long_term_memory_|deep_search_|agent_|think_message_|tool_message_)/

function progress(frame: JsonObject): readonly ChatEvent[] {
  const event = textOf(frame.event)
  switch (event) {
    case 'agent_thought':
      return [thought(frame)]
    case 'agent_thought_update':
    case 'agent_thought_end':
      return [
        detail(frame, (step) => ({
          type: 'tool_result',
          id: positionOf(frame, step),
          elapsed_ms: step.milliseconds('latency'),
          data: { output: step.text('observation') ?? '' },
        })),
      ]
    case 'tool_message':
      return [
        detail(frame, (step) => ({
          type: 'tool_result',
          name: step.text('message_title'),
          data: { output: step.text('answer') ?? '' },
        })),
      ]
    case 'suggestion':
      return [
        detail(frame, (step) => {
          step.keep('suggested_questions')
          return { type: 'other', name: event, data: {} }
        }),
      ]
    case 'flow_start':
    case 'flow_end': {
      const type = event === 'flow_start' ? 'node_started' : 'node_finished'
      return [detail(frame, (step) => ({ type, id: step.text('run_id'), data: {} }))]
    }
    default:
      return PROGRESS.test(event ?? '')
        ? [
            detail(frame, (step) => ({
              type: 'other',
              name: event,
              elapsed_ms: step.milliseconds('latency'),
              data: {},
            })),
          ]
        : []
  }
}

function thought(frame: JsonObject): ChatEvent {
  return detail(frame, (step) => {
    const id = positionOf(frame, step)
    const name = step.text('tool')
    return name === undefined
      ? { type: 'thought', id, data: { text: step.text('thought') ?? '' } }
      : { type: 'tool_call', id, name, data: { arguments: step.jsonText('tool_input') } }
  })
}

/** Thoughts have no id; their position in the message shows which events belong together. */
function positionOf({ position }: JsonObject, step: StepFields): string | undefined {
  return typeof position === 'number' ? String(position) : step.text('position')
}
