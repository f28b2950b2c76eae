import type { Adapter, AgentCall, ReplyState } from '#core/agents/adapter.ts'
import { oneOf, section } from '#core/agents/entry-schema.ts'
import type { ChatEvent, FinishReason } from '#core/agents/events.ts'
import type { Pause } from '#core/agents/pause.ts'
import { detail } from '#core/agents/translate/detail-event.ts'
import { errorEvents, MALFORMED, unreadableBody } from '#core/agents/translate/failure.ts'
import { FrameParser, isEndMarker } from '#core/agents/translate/frame-parser.ts'
import { helperCall } from '#core/agents/translate/helper-call.ts'
import { bearer, jsonPost } from '#core/agents/translate/plain-requests.ts'
import { idOf, platformIdOf } from '#core/agents/translate/platform-id.ts'
import { errorIn } from '#core/agents/translate/replies/error-shape.ts'
import {
  endEvents,
  endFailure,
  finishMeaning,
  finishWordIn,
} from '#core/agents/translate/replies/finish-words.ts'
import { outputText } from '#core/agents/translate/replies/output-text.ts'
import { EMPTY_PAUSE, pauseEvents } from '#core/agents/translate/replies/pause-events.ts'
import { SaidText } from '#core/agents/translate/replies/said-text.ts'
import { usageOf } from '#core/agents/translate/replies/token-counts.ts'
import { textEvent } from '#core/agents/translate/text-event.ts'
import { textOfQuestion } from '#core/agents/translate/text-of-question.ts'
import { isObject, type JsonObject, listOf, objectOf, textOf } from '#core/base/values/json.ts'
import { omitUndefined } from '#core/base/values/omit-undefined.ts'
import { difyConversations } from './conversations.ts'
import { difyFailure, difyRefusal, runFailure } from './failures.ts'
import { difyUpload, fileInfo, isDifyFileRefusal } from './files.ts'
import { formPause, listen, Replay, resumeOf, submitForm } from './human-input.ts'
import { filesInOutputs, filesOfEnd, madeFiles, withoutFiles } from './made-files.ts'
import { difyProbe } from './probe.ts'
import { progress, replace, sources } from './progress.ts'
import { type RunResult, resultOf } from './run-result.ts'

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
  readonly said: SaidText
  /** Whether `agent_message` events carried text, so that a `message` closes it. */
  hasAgentText: boolean
  workflow: 'running' | 'finished' | 'failed' | 'stopped'
  /** What the end of a failed run says of it. */
  runError: string | undefined
  /** The id by which the run can be asked about. */
  workflowRunId: string | undefined
  vainLooks: number
  /** The word of the model node that gave the answer so far, if it ended badly. */
  badWord: string | undefined
  /** The node that gave the last text, where Dify reports it. */
  textNode: string | undefined
  /** The outputs of the finished run, which are the answer if nothing else was. */
  outputs: string | undefined
  /** Whether a file has come. */
  hasFile: boolean
  /** Whether a pause has asked something. */
  hasPause: boolean
  /** Present if the reply goes on from a pause. */
  readonly replay: Replay | undefined
  /** Forms of the run that have not been answered. */
  readonly waiting: readonly Pause[]
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

/**
 * Dify: chat, agent, chatflow and New Agent apps, and by `mode` text generators and workflows. Always
 * requests a stream, because agents support nothing else. The key identifies the app. Dify issues the
 * conversation ids; the first message creates a conversation, which is visible to one `user` only.
 *
 * Not supported: the kind of a file whose URL has no known extension (the gateway fetches nothing), apps that
 * ignore files. Streams of old builds may send pings forever or stop without an end; the chat service detects both. `<think>` tags are part of the
 * text; audio is dropped.
 */
export const dify: Adapter<typeof ENTRY, DifyState> = {
  platform: 'dify',
  displayName: 'Dify',
  entry: ENTRY,
  entryRequires: ['apiKey'],
  apiUrl: (baseUrl) => `${baseUrl.replace(/\/v1$/, '')}/v1`,
  requires: () => [],
  takesAppIds: false,
  // Dify itself closes a stream after 300 seconds of silence, while its run goes on and can be asked for its result.
  idleMs: 330_000,
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

  buildRequest(call) {
    const { agent, variables, files, answer } = call
    if (answer !== undefined) return listen(call, answer)
    const query = textOfQuestion(call)
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
    return jsonPost(call.agent.apiUrl + PATHS[mode].run, bearer(call), omitUndefined(body))
  },

  submitAnswer: submitForm,

  // Dify closes a stream in which nothing was sent for 300 seconds, while the run goes on, and some versions end the repetition of
  // a run that was answered where it had paused. The result is then asked for.
  conclude(call, state) {
    const { hasText, hasFile, hasPause, outputs, replay, workflow } = state
    const hasAnswer = hasText || hasFile || outputs !== undefined || hasPause
    // A run that has ended before it was listened to repeats no text.
    const lacksText = replay !== undefined && workflow === 'finished' && !hasAnswer
    const isCut = workflow === 'running' && !state.ended && !hasPause
    return lacksText || isCut ? resultOf(call, state, (result) => resulted(result, state)) : undefined
  },

  start: ({ agent, answer }) => ({
    ...(answer !== undefined && { runId: resumeOf(answer.pause).taskId }),
    workflowRunId: answer && resumeOf(answer.pause).workflowRunId,
    vainLooks: 0,
    replay: answer && new Replay(resumeOf(answer.pause).token),
    waiting: answer?.waiting ?? [],
    frames: new FrameParser(),
    mode: agent.options.mode,
    hasText: false,
    said: new SaidText(),
    hasAgentText: false,
    workflow: 'running',
    runError: undefined,
    badWord: undefined,
    textNode: undefined,
    outputs: undefined,
    hasFile: false,
    hasPause: false,
    modelFinishReason: 'stop',
    ended: false,
  }),

  translate({ event, data }, state) {
    if (event === 'ping' || data === '') return []
    // Proxies in front of a platform add it.
    if (isEndMarker(data)) return end(state)
    const json = state.frames.parse(data)
    if (json === undefined) return event === 'error' ? errorEvents(difyFailure({ message: data })) : MALFORMED
    const frame = objectOf(json)
    learnIds(frame, state)
    if (state.replay?.skips(frame) === true) return []
    if (event === 'error' || frame.event === undefined) {
      const error = errorIn(json, typeof frame.answer === 'string')
      if (error !== undefined) return errorEvents(difyFailure(error))
    }
    return afterWorkflow(translateFrame(frame, state), state)
  },

  translateBody(body, state) {
    if (!isObject(body)) {
      const error = errorIn(body, false)
      return error === undefined ? unreadableBody(body) : errorEvents(difyFailure(error))
    }
    learnIds(body, state)
    if (isObject(body.data)) return [...workflowFinished(body.data, state), ...runEnd(state)]
    if (typeof body.answer !== 'string') return errorEvents(difyFailure(errorIn(body, false) ?? body))
    return [...text(body.answer, state), ...messageEnd(body, state)]
  },

  finish: runEnd,

  toFailure: difyRefusal,

  uploadFile: difyUpload,

  isFileRefusal: isDifyFileRefusal,

  // Closing the connection does not stop a run. Dify reports success for any task id.
  stop(call, { runId }) {
    if (runId === undefined) return undefined
    const path = `${PATHS[call.agent.options.mode].stop}/${encodeURIComponent(runId)}/stop`
    return helperCall(
      jsonPost(call.agent.apiUrl + path, bearer(call), { user: call.endUser }),
      dify.toFailure,
      (body) => (body.result === 'success' ? { ok: undefined } : undefined),
    )
  },

  conversations: ({ options: { mode } }) => difyConversations(mode),

  probe: difyProbe,
}

function learnIds(frame: JsonObject, state: DifyState): void {
  const runId = idOf(frame.task_id)
  const platformConversationId = idOf(frame.conversation_id)
  const answerId = platformIdOf(frame.message_id)
  const workflowRunId = platformIdOf(frame.workflow_run_id)
  if (workflowRunId !== undefined) state.workflowRunId = workflowRunId
  if (runId !== undefined) state.runId = runId
  if (platformConversationId !== undefined) state.platformConversationId = platformConversationId
  if (answerId !== undefined) state.answerId = answerId
}

function translateFrame(frame: JsonObject, state: DifyState): readonly ChatEvent[] {
  const data = objectOf(frame.data)
  switch (frame.event) {
    case 'agent_message':
      state.hasAgentText ||= textOf(frame.answer) !== undefined
      return text(frame.answer, state)
    case 'message':
      return message(frame, state)
    case 'text_chunk':
      return text(data.text, state, data.from_variable_selector)
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
      return paused(state)
    case 'human_input_required':
      return humanInput(frame, state)
    case 'error':
      return errorEvents(difyFailure(frame))
    default:
      // Once a message has a file, Dify sends its text as `message_file`.
      return typeof frame.answer === 'string' ? message(frame, state) : other(frame, data, state)
  }
}

/**
 * The text of a message. New Agent apps, whose text comes as `agent_message`, close it with their result: it repeats the text or its
 * end, or it is what nothing was said of before, such as a question or structured data.
 */
function message({ answer, from_variable_selector }: JsonObject, state: DifyState): readonly ChatEvent[] {
  const { hasAgentText, said } = state
  if (!hasAgentText || typeof answer !== 'string') return text(answer, state, from_variable_selector)
  if (said.endsWith(answer)) return []
  return text(said.restOf(answer) ?? `\n\n${answer}`, state)
}

/** A file is an answer, also where no text comes. */
function other(frame: JsonObject, data: JsonObject, state: DifyState): readonly ChatEvent[] {
  if (frame.event !== 'message_file') return progress(frame, data)
  return made(madeFiles(frame), state)
}

function made(files: readonly ChatEvent[], state: DifyState): readonly ChatEvent[] {
  state.hasFile ||= files.length > 0
  return files
}

/**
 * The end of a chat's workflow is reported only where no end of the message follows. A part of the answer that comes after it shows
 * that the answer had not ended; the end is then reported before that part.
 */
function afterWorkflow(events: readonly ChatEvent[], state: DifyState): readonly ChatEvent[] {
  if (state.workflow !== 'finished' || state.ended || !events.some(isAnswer)) return events
  state.ended = true
  return [{ type: 'end', reason: state.modelFinishReason }, ...events]
}

function isAnswer({ type }: ChatEvent): boolean {
  return ['text', 'reasoning', 'replace', 'pause', 'file'].includes(type)
}

/** A text from another node than a failed one shows that the run has gone on. */
function text(value: unknown, state: DifyState, selector?: unknown): readonly ChatEvent[] {
  const events = textEvent('text', value)
  if (events.length === 0) return events
  state.hasText = true
  if (typeof value === 'string') state.said.add(value)
  state.badWord = undefined
  state.textNode = textOf(listOf(selector)[0])
  return events
}

/** A form asks by its text, by the labels of its fields, or by its buttons alone. */
function humanInput(frame: JsonObject, state: DifyState): readonly ChatEvent[] {
  state.hasPause = true
  const data = objectOf(frame.data)
  const pause = formPause(frame)
  return pauseEvents(
    pause,
    // The token is left out, because it alone authorizes an answer to the form.
    detail({ ...data, form_token: undefined }, (step) => ({
      type: 'interaction',
      id: step.text('node_id'),
      data: { question: step.text('form_content'), options: pause.options.map(({ title }) => title) },
    })),
  )
}

/** A run that pauses again without a new form waits for those that were not answered. */
function paused(state: DifyState): readonly ChatEvent[] {
  if (state.hasPause) return end(state)
  if (state.waiting.length === 0) return EMPTY_PAUSE
  return [...state.waiting.map((pause): ChatEvent => ({ type: 'pause', pause })), ...end(state)]
}

/** Also handles blocking replies, which have the same metadata. */
function messageEnd(frame: JsonObject, state: DifyState): readonly ChatEvent[] {
  const metadata = objectOf(frame.metadata)
  const tokens = objectOf(metadata.usage)
  const word = finishWordIn(metadata) ?? finishWordIn(tokens) ?? finishWordIn(frame)
  return [
    ...(listOf(metadata.retriever_resources).length > 0 ? [sources(metadata)] : []),
    ...usageOf(tokens),
    ...made(filesOfEnd(frame), state),
    ...end(state),
    ...(word === undefined ? [] : modelEnd(word)),
  ]
}

/** The end of the model that answered. Dify runs its tools itself, so that the client has no tool call to answer. */
function modelEnd(word: string): readonly ChatEvent[] {
  return finishMeaning(word) === 'tool_calls' ? [] : endEvents(word)
}

/** In chatflows of 2026 it may arrive after the end, which it then corrects. */
function nodeFinished(data: JsonObject, state: DifyState): readonly ChatEvent[] {
  const { node_id, node_type, status, outputs } = data
  if (node_type !== 'llm' && node_type !== 'agent') return []
  const word = textOf(objectOf(outputs).finish_reason)
  const meaning = word === undefined ? 'stop' : finishMeaning(word)
  const isBad = (each: string | undefined) =>
    each !== undefined && ['failed', 'stopped'].includes(finishMeaning(each))
  const badWord = [word, textOf(status)].find(isBad)
  const isAnother =
    state.textNode !== undefined && textOf(node_id) !== undefined && state.textNode !== node_id
  if (badWord !== undefined) {
    if (!isAnother) state.badWord = badWord
    return state.ended && !isAnother ? end(state) : []
  }
  if (word === undefined) return []
  state.modelFinishReason = meaning === 'length' || meaning === 'content_filter' ? meaning : 'stop'
  return state.ended && state.modelFinishReason !== 'stop'
    ? [{ type: 'end', reason: state.modelFinishReason }]
    : []
}

/**
 * In a chatflow the message's own end comes before or after this event. A failure is not reported here,
 * because an `error` event with more information may follow.
 */
function workflowFinished(data: JsonObject, state: DifyState): readonly ChatEvent[] {
  const isWorkflow = state.mode === 'workflow'
  const meaning = finishMeaning(textOf(data.status) ?? 'succeeded')
  state.workflow = meaning === 'failed' || meaning === 'stopped' ? meaning : 'finished'
  const outputs = objectOf(data.outputs)
  const files = made([...filesInOutputs(outputs), ...filesOfEnd(data)], state)
  state.outputs = outputText(withoutFiles(outputs))
  state.runError = textOf(data.error)
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
  const isEnd = state.ended || (isWorkflow && state.workflow === 'finished')
  return isEnd ? [...files, summary, ...end(state)] : [...files, summary]
}

/** Chatflows of 2026 may end with `workflow_finished` alone, and failed ones do so without an `error` event. */
function runEnd(state: DifyState): readonly ChatEvent[] {
  return state.workflow === 'running' || state.ended ? [] : end(state)
}

function end(state: DifyState): readonly ChatEvent[] {
  state.ended = true
  const { workflow, badWord, outputs, hasText, runError } = state
  if (workflow === 'failed') return errorEvents(runFailure(runError))
  if (workflow === 'stopped') return endFailure(workflow, 'workflow_stopped')
  if (badWord !== undefined) return endFailure(badEndOf(badWord), badWord)
  return [...(hasText ? [] : text(outputs, state)), { type: 'end', reason: state.modelFinishReason }]
}

/** The events of a result that was asked for after the end of the stream: what its text adds, and its end. */
function resulted({ text: whole, run }: RunResult, state: DifyState): readonly ChatEvent[] {
  const rest = whole === undefined ? '' : state.said.restOf(whole)
  const added = rest === undefined ? replace(whole, {}) : text(rest, state)
  if (run !== undefined) return [...added, ...workflowFinished(run, state), ...runEnd(state)]
  return [...added, ...end(state)]
}

function badEndOf(word: string): 'failed' | 'stopped' {
  return finishMeaning(word) === 'stopped' ? 'stopped' : 'failed'
}
