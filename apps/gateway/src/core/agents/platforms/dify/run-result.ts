import type { AgentCall, Conclusion, HelperCall, ReplyState } from '#core/agents/adapter.ts'
import type { ChatEvent, Failure } from '#core/agents/events.ts'
import { errorEvents } from '#core/agents/translate/failure.ts'
import { bearer } from '#core/agents/translate/plain-requests.ts'
import { isObject, type JsonObject, listOf, objectOf, parseJson, textOf } from '#core/base/values/json.ts'
import { difyRefusal, runFailure } from './failures.ts'

/** What a run has come to, after the end of its stream. */
export interface RunResult {
  /** The whole text of the answer; undefined where the outputs of a workflow are all that there is. */
  readonly text: string | undefined
  /** The run, as `workflow_finished` reports it; undefined for apps without a workflow. */
  readonly run: JsonObject | undefined
}

/** What is known of a run whose stream has ended without its result. */
export interface CutRun extends ReplyState {
  readonly workflowRunId: string | undefined
  /** Present if the run goes on from a pause. */
  readonly replay: unknown
  readonly workflow: string
  /** How often nothing was found by which to tell whether the run still works. */
  vainLooks: number
}

/** How long one answer about a run is waited for. */
const WITHIN_MS = 10_000

/** A run that was answered still waits until a worker of Dify goes on with it. */
const WAITING_LOOKS_MAX = 4

/** A message has its text when its run has ended, which it never does if the process that ran it is gone: about five minutes. */
const EMPTY_LOOKS_MAX = 32

/**
 * Asks for the result of a run: by the run itself or, where the app has no workflow or its text is all that is missing, by the latest
 * message of the conversation. Undefined where neither is known.
 */
export function resultOf(
  call: AgentCall,
  state: CutRun,
  toEvents: (result: RunResult) => readonly ChatEvent[],
): HelperCall<Conclusion> | undefined {
  const isOfRun = state.workflowRunId !== undefined && state.workflow === 'running'
  const path = isOfRun
    ? `/workflows/run/${encodeURIComponent(state.workflowRunId ?? '')}`
    : messages(call, state)
  if (path === undefined) return undefined
  return {
    request: { method: 'GET', url: call.agent.apiUrl + path, headers: bearer(call) },
    withinMs: WITHIN_MS,
    read(status, body, header) {
      if (status >= 400) return { failure: difyRefusal(status, body, header) }
      const found = isOfRun ? readRun(objectOf(body), state) : readMessages(objectOf(body), state)
      if (found === undefined) return { ok: [] }
      if (found === 'working') return { ok: found }
      return { ok: 'reason' in found ? errorEvents(found) : toEvents(found) }
    },
  }
}

function messages(call: AgentCall, { platformConversationId }: CutRun): string | undefined {
  const conversation = platformConversationId ?? call.platformConversationId
  if (conversation === undefined) return undefined
  return `/messages?${new URLSearchParams({ conversation_id: conversation, user: call.endUser, limit: '1' })}`
}

type Found = RunResult | Failure | 'working' | undefined

function readRun(run: JsonObject, state: CutRun): Found {
  const { status } = run
  if (status === 'running') return 'working'
  if (status === 'paused') {
    // A form that is new to the gateway cannot be read here, so a run that has paused once more is cut.
    return state.replay === undefined ? undefined : lookAgain(state, WAITING_LOOKS_MAX)
  }
  if (textOf(status) === undefined) return undefined
  const outputs = typeof run.outputs === 'string' ? parseJson(run.outputs) : run.outputs
  return {
    text: isObject(outputs) ? textOf(outputs.answer) : undefined,
    run: { ...run, outputs },
  }
}

function readMessages({ data }: JsonObject, state: CutRun): Found {
  const latest = objectOf(listOf(data).at(-1))
  const isCut = state.workflow === 'running'
  if (isCut && latest.id !== state.answerId) return undefined
  if (latest.status === 'error') return runFailure(textOf(latest.error))
  const text = textOf(latest.answer)
  if (text !== undefined) return { text, run: undefined }
  return isCut ? lookAgain(state, EMPTY_LOOKS_MAX) : undefined
}

function lookAgain(state: CutRun, looksMax: number): 'working' | undefined {
  state.vainLooks += 1
  return state.vainLooks <= looksMax ? 'working' : undefined
}
