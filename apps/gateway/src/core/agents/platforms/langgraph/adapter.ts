import type { Adapter, AgentCall, Conclusion, HelperCall } from '#core/agents/adapter.ts'
import type { ChatEvent, Failure } from '#core/agents/events.ts'
import {
  errorEvents,
  failureOf,
  isPage,
  MALFORMED,
  reasonOfStatus,
  statusOfError,
  unreadableBody,
} from '#core/agents/translate/failure.ts'
import { FrameParser, isEndMarker } from '#core/agents/translate/frame-parser.ts'
import { helperCall } from '#core/agents/translate/helper-call.ts'
import { jsonPost } from '#core/agents/translate/plain-requests.ts'
import { idOf } from '#core/agents/translate/platform-id.ts'
import { messageIn } from '#core/agents/translate/refusals/error-words.ts'
import { reasonOfRun } from '#core/agents/translate/refusals/whose-fault.ts'
import { errorIn } from '#core/agents/translate/replies/error-shape.ts'
import { endFailure, finishMeaning } from '#core/agents/translate/replies/finish-words.ts'
import { userMessage } from '#core/agents/translate/user-message.ts'
import { isObject, type JsonObject, listOf, objectOf, textOf } from '#core/base/values/json.ts'
import { omitUndefined } from '#core/base/values/omit-undefined.ts'
import { langgraphConversations } from './conversations.ts'
import { ENTRY } from './entry.ts'
import { mayLackThread, refusal } from './failures.ts'
import {
  interruptEvents,
  isCut,
  type LangGraphState,
  missingText,
  OVER,
  pieceEvents,
  stateEvents,
  updateEvents,
  wantsTool,
} from './frames.ts'
import { isAtBreakpoint, resumeOf } from './interrupts.ts'
import { credentials, post, runUrl, threadOf, threadUrl } from './wire.ts'

/** How long the gateway waits for the status of a run whose bytes have ended. */
const STATUS_MS = 10_000

const RUN_LOCATION = /\/runs\/([0-9a-zA-Z-]{1,128})$/

const END: readonly ChatEvent[] = [{ type: 'end', reason: 'stop' }]

/**
 * LangGraph's server, which keeps the messages of each thread. A conversation is a thread whose id the gateway chooses. The stream of a run
 * ends in the same way whether the run has succeeded, has failed or was cancelled, so the gateway asks for the status of the run before
 * it reports an end.
 *
 * Not supported: finish reasons of the server in JavaScript, which reports none; graphs that do not keep their messages under `messages`.
 */
export const langgraph: Adapter<typeof ENTRY, LangGraphState> = {
  platform: 'langgraph',
  displayName: 'LangGraph',
  entry: ENTRY,
  entryRequires: [],
  requires: () => [],
  takesAppIds: false,
  features: () => ({ stream: true, detail: true, files: true, conversation: true, usage: true, stop: true }),
  context: () => 'client',
  takesDataUrls: true,
  makesConversations: true,

  buildRequest(call) {
    const { agent, app, query, files, variables, answer, isKept, isNew = true } = call
    const run = {
      assistant_id:
        app === undefined ? (agent.options.assistantId ?? 'agent') : (app.options.assistantId ?? app.id),
      // The messages come last, since a variable must not take their place.
      ...(answer === undefined
        ? { input: { ...variables, messages: [userMessage(query, files)] } }
        : isAtBreakpoint(answer)
          ? { input: null }
          : { command: { resume: resumeOf(answer) } }),
      stream_mode: ['messages-tuple', 'updates'],
      stream_subgraphs: true,
      stream_resumable: true,
      // A thread that the server has lost must not begin anew in silence.
      if_not_exists: isNew ? 'create' : undefined,
      multitask_strategy: 'reject',
      on_disconnect: isKept === true ? 'continue' : 'cancel',
      metadata: { end_user: call.endUser },
    }
    return post(call, `/threads/${threadOf(call)}/runs/stream`, omitUndefined(run))
  },

  start: ({ agent, answer, isNew = true }) => ({
    expectsThread: !isNew,
    frames: new FrameParser(),
    isAnswer: answer !== undefined,
    node: agent.options.node,
    message: undefined,
    replaced: new Set(),
    finishWord: undefined,
    hasText: false,
    hasWorked: false,
    hasFailed: false,
    hasFile: false,
    kept: undefined,
    openNode: undefined,
    hasPause: false,
    status: undefined,
    usage: new Map(),
    tokens: { input: 0, output: 0 },
    openTools: new Set(),
    reported: new Set(),
  }),

  translate({ event, data }, state) {
    if (data === '' || isEndMarker(data)) return []
    const [name = '', ...path] = (event ?? '').split('|')
    const json = state.frames.parse(data)
    if (json === undefined) return name === 'error' ? failed({ message: data }, state) : MALFORMED
    const frame = objectOf(json)
    switch (name) {
      case 'metadata': {
        const runId = idOf(frame.run_id)
        if (runId !== undefined) state.runId = runId
        return []
      }
      case 'messages':
        return pieceEvents(json, path, state)
      case 'updates':
        return updateEvents(frame, path, state)
      case 'error':
        return failed(isObject(json) ? json : { message: json }, state)
      case '': {
        const error = errorIn(json, false)
        return error === undefined ? [] : failed(error, state)
      }
      default:
        // What the graph itself sends, and modes that were not asked for.
        return []
    }
  },

  translateBody(body, state) {
    const error = isObject(body)
      ? (errorIn({ error: body.__error__ }, false) ?? errorIn(body, false))
      : undefined
    return error === undefined ? unreadableBody(body) : failed(error, state)
  },

  /** The server names the run before its first event, which a run that waits for another one has long after. */
  begin(header, state) {
    const runId = RUN_LOCATION.exec(header('content-location') ?? '')?.[1]
    if (runId !== undefined) state.runId = runId
  },

  // What a run waits for decides, whatever else its end could mean.
  finish: ({ hasPause, hasFailed }) => (hasPause && !hasFailed ? END : []),

  toFailure(status, body, header, state) {
    const failure = refusal(status, body, header)
    if (state?.expectsThread === true && mayLackThread(status, body, failure)) state.refused = failure
    return failure
  },

  conclude(call, state) {
    const { runId, hasFailed, hasPause, status } = state
    if (state.refused !== undefined) return findThread(call, state, state.refused)
    if (runId === undefined || hasFailed || hasPause) return undefined
    if (status !== undefined) return { ...readThread(call, state), withinMs: STATUS_MS }
    return {
      ...helperCall(
        { method: 'GET', url: runUrl(call, runId), headers: credentials(call) },
        refusal,
        (run) => ({ ok: endOf(textOf(run.status), state) }),
      ),
      withinMs: STATUS_MS,
    }
  },

  stop(call, { runId }) {
    if (runId === undefined) return undefined
    const request = jsonPost(`${runUrl(call, runId)}/cancel?wait=0&action=interrupt`, credentials(call), {})
    return {
      request,
      // The reply is empty, also for a run that has ended.
      read: (status, body, header) =>
        status < 400 || status === 404 ? { ok: undefined } : { failure: refusal(status, body, header) },
    }
  },

  conversations: () => langgraphConversations,

  // Public servers tell their state without a key, so this asks for what needs one.
  probe(agent) {
    return {
      request: post({ agent }, '/assistants/search', { limit: 1 }),
      read(status, body, header) {
        if (Array.isArray(body) && status < 400) return { ok: 'available' }
        const failure = refusal(status, body, header)
        const isMissing = (status === 404 || status === 405) && !isPage(body)
        return isMissing || failure.reason === 'agent_rate_limited' ? { ok: 'degraded' } : { failure }
      },
    }
  },
}

/** Asks whether the thread is there: a server may refuse a run in a thread that it does not have as it refuses one in a busy thread. */
function findThread(
  call: AgentCall<typeof ENTRY>,
  state: LangGraphState,
  refused: Failure,
): HelperCall<Conclusion> {
  return {
    request: { method: 'GET', url: threadUrl(call), headers: credentials(call) },
    withinMs: STATUS_MS,
    read(status, body) {
      delete state.refused
      const isLost = status === 404 && !isPage(body)
      return { ok: errorEvents(isLost ? { ...refused, reason: 'conversation_not_found' } : refused) }
    },
  }
}

/** How a run has ended by its status. */
function endOf(status: string | undefined, state: LangGraphState): Conclusion {
  switch (status) {
    case 'success':
      if (state.isAnswer && !state.hasWorked) return [OVER]
      if (wantsTool(state)) return errorEvents(failureOf('agent_requires_action', { code: 'tool_calls' }))
      if (!isCut(state)) return [...missingText(state), ...modelEnd(state.finishWord)]
      state.status = status
      return 'again'
    case 'interrupted':
      return endFailure('stopped', status)
    case 'timeout':
      return errorEvents(failureOf('agent_timeout', { code: status }))
    case 'error':
      return endFailure('failed', status)
    case 'pending':
    case 'running':
      return 'working'
    default:
      return []
  }
}

/** Reads what a stream has lost from the state of the thread, which has the whole answer of a run that has succeeded. */
function readThread(call: AgentCall<typeof ENTRY>, state: LangGraphState): HelperCall<Conclusion> {
  const request = { method: 'GET', url: `${threadUrl(call)}/state`, headers: credentials(call) } as const
  return helperCall(request, refusal, ({ values, tasks, next }) => {
    if (!isObject(values)) return undefined
    const interrupts = listOf(tasks).flatMap((task) => listOf(objectOf(task).interrupts))
    if (interrupts.length > 0 || listOf(next).length > 0)
      return { ok: [...interruptEvents(interrupts, state), ...END] }
    return { ok: [...stateEvents(listOf(values.messages), state), ...modelEnd(state.finishWord)] }
  })
}

/** A model that was cut gives a cut answer. The tools that it calls are run by the graph. */
function modelEnd(word: string | undefined): readonly ChatEvent[] {
  const meaning = word === undefined ? 'stop' : finishMeaning(word)
  const isCut = meaning === 'length' || meaning === 'content_filter'
  return [{ type: 'end', reason: isCut ? meaning : 'stop' }]
}

/** The errors that end the stream of a cancelled run. */
const CANCELLED: ReadonlySet<unknown> = new Set(['UserInterrupt', 'UserRollback', 'rollback'])

/** A failure within the run. */
function failed(error: JsonObject, state: LangGraphState): readonly ChatEvent[] {
  state.hasFailed = true
  const code = textOf(error.error) ?? error.code
  const message = messageIn(error.message) ?? messageIn(error)
  if (CANCELLED.has(code)) return endFailure('stopped', String(code))
  if (code === 'TimeoutError') return errorEvents(failureOf('agent_timeout', { code }))
  const isInput = code === 'EmptyInputError' || code === 'InvalidUpdateError'
  const reason = isInput
    ? 'agent_rejected_input'
    : (reasonOfRun(message) ?? reasonOfStatus(statusOfError(error.code, undefined) ?? 500))
  return errorEvents(failureOf(reason, { code, message }))
}
