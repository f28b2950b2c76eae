import type { Adapter, AgentCall, ReplyState } from '#core/agents/adapter.ts'
import { oneOf, section } from '#core/agents/entry-schema.ts'
import type { ChatEvent, DetailEvent, FinishReason } from '#core/agents/events.ts'
import { agentUrl } from '#core/agents/translate/agent-url.ts'
import { bearer } from '#core/agents/translate/bearer.ts'
import { detail, StepFields } from '#core/agents/translate/detail-event.ts'
import {
  errorEvents,
  failureOf,
  MALFORMED,
  refusalReader,
  unreadableBody,
} from '#core/agents/translate/failure.ts'
import { finishReason } from '#core/agents/translate/finish-reason.ts'
import { FrameParser } from '#core/agents/translate/frame-parser.ts'
import { helperCall, probeCall } from '#core/agents/translate/helper-call.ts'
import { jsonPost } from '#core/agents/translate/json-post.ts'
import { multipartPost } from '#core/agents/translate/multipart-post.ts'
import { textEvent } from '#core/agents/translate/text-event.ts'
import { uploadCall } from '#core/agents/translate/upload-call.ts'
import { usage } from '#core/agents/translate/usage-event.ts'
import { isObject, type JsonObject, listOf, objectOf, textOf, toJson } from '#core/values/json.ts'
import { omitUndefined } from '#core/values/omit-undefined.ts'
import { difyFailure } from './failures.ts'
import { fileInfo, isDifyFileRefusal, uploadName } from './files.ts'

/** `mode` is the kind of app that the key belongs to. */
const ENTRY = {
  agent: section({
    mode: oneOf(['chat', 'completion', 'workflow'], {
      default: 'chat',
      description: 'The kind of app that the key belongs to; `chat` also for agents and chatflows.',
    }),
  }),
  app: section({}),
}

type Mode = AgentCall<typeof ENTRY>['agent']['options']['mode']

interface DifyState extends ReplyState {
  readonly frames: FrameParser
  readonly mode: Mode
  hasText: boolean
  /** Whether `agent_message` events carried text. */
  hasAgentText: boolean
  workflow: 'running' | 'finished' | 'failed'
  /**
   * The finish reason of the last model node, because the end of a run does not report a truncated answer.
   */
  modelFinishReason: FinishReason
  ended: boolean
}

const PATHS = {
  chat: { run: '/chat-messages', stop: '/chat-messages' },
  completion: { run: '/completion-messages', stop: '/completion-messages' },
  workflow: { run: '/workflows/run', stop: '/workflows/tasks' },
} as const

/** The app kinds (`mode` in the reply to `GET /info`) that each of our modes supports. */
const APP_MODES = {
  chat: ['chat', 'agent-chat', 'advanced-chat', 'agent'],
  completion: ['completion'],
  workflow: ['workflow'],
} as const

/**
 * Dify: chat, agent, chatflow and New Agent apps, and by `mode` text generators and workflows. Always
 * requests a stream, because agents support nothing else. The key identifies the app. Dify issues the
 * conversation ids; the first message creates a conversation, which is visible to one `user` only.
 *
 * Not supported: the kind of a file whose URL has no known extension (the gateway fetches nothing), apps that
 * ignore files, and answers to human input forms, which have their own endpoint. Streams of old builds may
 * send pings forever or stop without an end; the chat service detects both. `<think>` tags are part of the
 * text; audio is dropped.
 */
export const dify: Adapter<typeof ENTRY, DifyState> = {
  platform: 'dify',
  displayName: 'Dify',
  entry: ENTRY,
  entryRequires: ['apiKey'],
  requires: () => [],
  takesAppIds: false,
  features: ({ options: { mode } }) => ({
    stream: true,
    detail: true,
    files: true,
    conversation: mode === 'chat',
    usage: mode !== 'workflow',
    stop: true,
  }),
  context: ({ options: { mode } }) => (mode === 'chat' ? 'platform' : 'none'),
  // Dify fetches http(s) URLs alone.
  takesDataUrls: false,
  emptyReplyIsError: true,

  buildRequest(call) {
    const { agent, query, variables, files } = call
    const { mode } = agent.options
    const isChat = mode === 'chat'
    const body = {
      inputs: isChat ? variables : { query, ...variables },
      query: mode === 'workflow' ? undefined : query,
      user: call.endUser,
      response_mode: 'streaming',
      // Left out for a new conversation, because Dify 1.11.0 rejects an empty string.
      conversation_id: isChat ? call.platformConversationId : undefined,
      // Generating a title would keep the stream open after its end.
      auto_generate_name: isChat ? false : undefined,
      files: files.length === 0 ? undefined : files.map(fileInfo),
    }
    return jsonPost(difyUrl(call, PATHS[mode].run), bearer(call), omitUndefined(body))
  },

  start: ({ agent }) => ({
    frames: new FrameParser(),
    mode: agent.options.mode,
    hasText: false,
    hasAgentText: false,
    workflow: 'running',
    modelFinishReason: 'stop',
    ended: false,
  }),

  translate({ event, data }, state) {
    if (event === 'ping' || data === '') return []
    const json = state.frames.parse(data)
    if (json === undefined) return MALFORMED
    const frame = objectOf(json)
    learnIds(frame, state)
    return translateFrame(frame, state)
  },

  translateBody(body, state) {
    if (!isObject(body)) return unreadableBody(body)
    learnIds(body, state)
    if (isObject(body.data)) return workflowFinished(body.data, state)
    if (typeof body.answer !== 'string') return errorEvents(difyFailure(body))
    return [...text(body.answer, state), ...messageEnd(body, state)]
  },

  // Chatflows of 2026 may end with `workflow_finished` alone, and failed ones do so without an `error` event.
  finish: (state) => (state.workflow === 'running' ? [] : end(state)),

  toFailure: refusalReader(difyFailure),

  uploadFile: (call, file) =>
    uploadCall(
      file,
      multipartPost(
        difyUrl(call, '/files/upload'),
        bearer(call),
        { ...file, name: uploadName(file.name) },
        { user: call.endUser },
      ),
      dify.toFailure,
      (body) => body.id,
    ),

  isFileRefusal: isDifyFileRefusal,

  // Closing the connection does not stop a run. Dify reports success for any task id.
  stop(call, { runId }) {
    if (runId === undefined) return undefined
    const path = `${PATHS[call.agent.options.mode].stop}/${encodeURIComponent(runId)}/stop`
    return helperCall(
      jsonPost(difyUrl(call, path), bearer(call), { user: call.endUser }),
      dify.toFailure,
      (body) => (body.result === 'success' ? { ok: undefined } : undefined),
    )
  },

  probe(agent) {
    const request = { method: 'GET', url: difyUrl({ agent }, '/info'), headers: bearer({ agent }) } as const
    const call = probeCall(request, dify.toFailure, (body) => typeof body.name === 'string')
    return {
      request,
      read(status, body, header) {
        const mode = textOf(objectOf(body).mode)
        const fits = mode === undefined || APP_MODES[agent.options.mode].some((known) => known === mode)
        return status < 400 && !fits
          ? { failure: failureOf('agent_misconfigured', { status, code: `mode ${mode}` }) }
          : call.read(status, body, header)
      },
    }
  },
}

function difyUrl({ agent }: Pick<AgentCall, 'agent'>, path: string): string {
  return agentUrl(agent.baseUrl, /\/v1$/, `/v1${path}`)
}

function learnIds(frame: JsonObject, state: DifyState): void {
  const runId = textOf(frame.task_id)
  const platformConversationId = textOf(frame.conversation_id)
  if (runId !== undefined) state.runId = runId
  if (platformConversationId !== undefined) state.platformConversationId = platformConversationId
}

function translateFrame(frame: JsonObject, state: DifyState): readonly ChatEvent[] {
  const data = objectOf(frame.data)
  switch (frame.event) {
    case 'agent_message':
      state.hasAgentText ||= textOf(frame.answer) !== undefined
      return text(frame.answer, state)
    case 'message':
      // New Agent apps repeat the whole answer at the end.
      return state.hasAgentText ? [] : text(frame.answer, state)
    case 'text_chunk':
      return text(data.text, state)
    case 'message_replace':
      return replace(frame.answer, frame)
    case 'text_replace':
      return replace(data.text, {})
    case 'message_end':
      return messageEnd(frame, state)
    case 'node_finished':
      return [...progress(frame, data), ...nodeFinished(data, state)]
    case 'workflow_finished':
      return workflowFinished(data, state)
    case 'workflow_paused':
      return end(state)
    case 'error':
      return errorEvents(difyFailure(frame))
    default:
      // Since Dify 1.11.2 text may come in other events, such as `message_file`.
      return typeof frame.answer === 'string' ? text(frame.answer, state) : progress(frame, data)
  }
}

/**
 * Leaves out inputs, outputs and process data of nodes, because they contain prompts and quoted knowledge.
 */
function progress(frame: JsonObject, data: JsonObject): readonly ChatEvent[] {
  const { event } = frame
  switch (event) {
    case 'node_started':
    case 'node_finished':
      return [
        detail(data, (step) => ({
          type: event,
          ...nodeOf(step),
          name: step.text('title'),
          data: { node_type: step.text('node_type') },
        })),
      ]
    case 'agent_thought':
      return [thought(frame)]
    case 'message_file':
      return [
        detail(frame, (step) => {
          step.keep('type', 'url')
          return { type: 'other', id: step.text('id'), name: event, data: {} }
        }),
      ]
    case 'reasoning_chunk':
      return textEvent('reasoning', data.reasoning)
    case 'human_input_required':
      return [
        { type: 'interaction', question: textOf(data.form_content) ?? '', options: [] },
        detail(data, (step) => ({
          type: 'interaction',
          id: step.text('node_id'),
          data: { question: step.text('form_content'), options: [] },
        })),
      ]
    case 'agent_log':
      return [
        detail(data, (step) => ({
          type: 'other',
          id: step.text('id'),
          name: step.text('label'),
          status: step.text('status'),
          data: {},
        })),
      ]
    case 'workflow_started':
    case 'node_retry':
    case 'iteration_started':
    case 'iteration_next':
    case 'iteration_completed':
    case 'loop_started':
    case 'loop_next':
    case 'loop_completed':
    case 'human_input_form_filled':
    case 'human_input_form_timeout':
      return [detail(data, (step) => ({ type: 'other', ...nodeOf(step), name: event, data: {} }))]
    default:
      return []
  }
}

function nodeOf(step: StepFields) {
  return {
    id: step.text('node_id'),
    status: step.text('status'),
    elapsed_ms: step.milliseconds('elapsed_time'),
  }
}

/** The same id arrives two or three times: empty, then with the tool, then with the tool's result. */
function thought(frame: JsonObject): ChatEvent {
  return detail(frame, (step) => {
    const id = step.text('id')
    const name = step.text('tool')
    if (name === undefined) return { type: 'thought', id, data: { text: step.text('thought') ?? '' } }
    const output = step.text('observation')
    const input = step.jsonText('tool_input')
    return output === undefined
      ? { type: 'tool_call', id, name, data: { arguments: input } }
      : { type: 'tool_result', id, name, data: { arguments: input, output } }
  })
}

function text(value: unknown, state: DifyState): readonly ChatEvent[] {
  const events = textEvent('text', value)
  state.hasText ||= events.length > 0
  return events
}

function replace(text: unknown, frame: JsonObject): readonly ChatEvent[] {
  if (typeof text !== 'string') return []
  const replaced = (): DetailEvent<'replaced'> => {
    const step = new StepFields(frame)
    return { type: 'replaced', status: step.text('reason'), data: { text }, raw: step.raw }
  }
  return [{ type: 'replace', text, detail: replaced }]
}

/** Also handles blocking replies, which have the same metadata. */
function messageEnd(frame: JsonObject, state: DifyState): readonly ChatEvent[] {
  const metadata = objectOf(frame.metadata)
  const tokens = objectOf(metadata.usage)
  return [
    ...(listOf(metadata.retriever_resources).length > 0 ? [sources(metadata)] : []),
    ...usage(tokens.prompt_tokens, tokens.completion_tokens, tokens.total_tokens),
    ...end(state),
  ]
}

function sources(metadata: JsonObject): ChatEvent {
  const names = { title: 'document_name', text: 'content', document: 'document_id' }
  return detail(metadata, (step) => ({
    type: 'sources',
    data: { items: step.sources('retriever_resources', names) },
  }))
}

/** In chatflows of 2026 it may arrive after the end, whose finish reason it then corrects. */
function nodeFinished({ node_type, outputs }: JsonObject, state: DifyState): readonly ChatEvent[] {
  const nodeReason = node_type === 'llm' ? textOf(objectOf(outputs).finish_reason) : undefined
  if (nodeReason === undefined) return []
  const reason = finishReason(nodeReason)
  // Dify runs the tools of a model node itself, so the client has no tool call to answer.
  state.modelFinishReason = reason === 'tool_calls' ? 'stop' : reason
  return state.ended && state.modelFinishReason !== 'stop'
    ? [{ type: 'end', reason: state.modelFinishReason }]
    : []
}

/**
 * In a chatflow the message's own end comes before or after this event. A failure is not reported here,
 * because an `error` event with more information may follow.
 */
function workflowFinished(data: JsonObject, state: DifyState): readonly ChatEvent[] {
  const { status, outputs } = data
  const isWorkflow = state.mode === 'workflow'
  state.workflow = status === 'failed' ? 'failed' : 'finished'
  const summary = detail(data, (step) => {
    if (isWorkflow) step.keep('outputs')
    return {
      type: 'other',
      name: 'workflow_finished',
      status: step.text('status'),
      elapsed_ms: step.milliseconds('elapsed_time'),
      data: {},
    }
  })
  if (state.workflow === 'failed') return state.ended ? [summary, ...failed()] : [summary]
  if (!isWorkflow) return [summary]
  return [summary, ...(state.hasText ? [] : text(outputText(objectOf(outputs)), state)), ...end(state)]
}

/**
 * Authors name a workflow's outputs freely: returns a usual one, else all strings, else everything as JSON.
 */
function outputText(outputs: JsonObject): string | undefined {
  const texts = Object.values(outputs).filter((value) => textOf(value) !== undefined)
  const usual = [outputs.text, outputs.output, outputs.answer].find((value) => textOf(value) !== undefined)
  const isEmpty = Object.values(outputs).every((value) => value === null || value === '')
  return textOf(usual) ?? (texts.length > 0 || isEmpty ? texts.join('\n\n') : toJson(outputs))
}

function end(state: DifyState): readonly ChatEvent[] {
  if (state.ended) return []
  state.ended = true
  return state.workflow === 'failed' ? failed() : [{ type: 'end', reason: state.modelFinishReason }]
}

function failed(): readonly ChatEvent[] {
  return errorEvents(failureOf('agent_error', { code: 'workflow_failed' }))
}
