import type { HeaderReader } from '#core/agents/adapter.ts'
import type { Failure } from '#core/agents/events.ts'
import { EarlyRefusals } from '#core/agents/translate/early-refusals.ts'
import { failureOf, reasonOfStatus, refusalReader, statusOfError } from '#core/agents/translate/failure.ts'
import { messageIn } from '#core/agents/translate/refusals/error-words.ts'
import { reasonInWords, reasonOfRun } from '#core/agents/translate/refusals/whose-fault.ts'
import { errorIn } from '#core/agents/translate/replies/error-shape.ts'
import type { ErrorReason } from '#core/base/errors/errors.ts'
import { type JsonObject, listOf, objectOf, textOf } from '#core/base/values/json.ts'
import { errorOf } from './wire.ts'

interface A2aReply {
  readonly status?: number
  readonly header?: HeaderReader
  /** Whether the message answers a pause, so that it names a task. */
  readonly isAnswer: boolean
  /** Whether the error is the whole reply, in place of a stream. */
  readonly isWhole: boolean
}

/** The errors of the protocol, by their numbers in JSON-RPC. */
const WORDS: ReadonlyMap<number, string> = new Map([
  [-32700, 'PARSE_ERROR'],
  [-32600, 'INVALID_REQUEST'],
  [-32601, 'METHOD_NOT_FOUND'],
  [-32602, 'INVALID_PARAMS'],
  [-32603, 'INTERNAL'],
  [-32001, 'TASK_NOT_FOUND'],
  [-32002, 'TASK_NOT_CANCELABLE'],
  [-32003, 'PUSH_NOTIFICATION_NOT_SUPPORTED'],
  [-32004, 'UNSUPPORTED_OPERATION'],
  [-32005, 'CONTENT_TYPE_NOT_SUPPORTED'],
  [-32006, 'INVALID_AGENT_RESPONSE'],
  [-32007, 'EXTENDED_AGENT_CARD_NOT_CONFIGURED'],
  [-32008, 'EXTENSION_SUPPORT_REQUIRED'],
  [-32009, 'VERSION_NOT_SUPPORTED'],
])

const REASONS: Readonly<Record<string, ErrorReason>> = {
  PARSE_ERROR: 'agent_misconfigured',
  INVALID_REQUEST: 'agent_misconfigured',
  METHOD_NOT_FOUND: 'agent_misconfigured',
  INVALID_PARAMS: 'agent_rejected_input',
  // Only an answer to a pause names a task.
  TASK_NOT_FOUND: 'pause_over',
  UNSUPPORTED_OPERATION: 'agent_misconfigured',
  CONTENT_TYPE_NOT_SUPPORTED: 'agent_rejected_input',
  EXTENSION_SUPPORT_REQUIRED: 'agent_misconfigured',
  VERSION_NOT_SUPPORTED: 'agent_misconfigured',
}

/** After these the agent's card may say something else than the gateway knows. */
const OF_CARD: ReadonlySet<string> = new Set([
  'METHOD_NOT_FOUND',
  'UNSUPPORTED_OPERATION',
  'VERSION_NOT_SUPPORTED',
])

/** Refusals before an agent makes a task: of the key, and the protocol's own. */
const EARLY = new EarlyRefusals([
  { status: 401 },
  { code: 'METHOD_NOT_FOUND' },
  { code: 'INVALID_PARAMS' },
  { code: 'TASK_NOT_FOUND' },
  { code: 'UNSUPPORTED_OPERATION' },
  { code: 'VERSION_NOT_SUPPORTED' },
])

/** What Mastra (-32600) and the SDK for Python (-32602) say of a task that has ended, in place of -32004. */
const ENDED = /\bterminal state\b/i

/** Maps an error of the protocol, which JSON-RPC sends with status 200, or of whatever stands before the agent. */
export function a2aFailure(error: JsonObject, { status, header, isAnswer, isWhole }: A2aReply): Failure {
  const word = wordOf(error)
  const facts = { status, header, error, message: messageIn(error), code: word ?? error.code }
  const turn = isWhole ? EARLY.turnOf({ status, code: word }) : undefined
  const isEnded = word === 'UNSUPPORTED_OPERATION' || ENDED.test(facts.message ?? '')
  if (isAnswer && isEnded) return failureOf('pause_over', { ...facts, turn })
  const reason =
    REASONS[word ?? ''] ??
    (word === undefined ? reasonInWords(error, status) : reasonOfRun(error)) ??
    // Its status may be one of the caller's faults, such as 400.
    (word === 'INTERNAL' ? 'agent_error' : undefined) ??
    reasonOfStatus(statusOfError(error.code, status) ?? 500)
  const failure = failureOf(reason, { ...facts, turn })
  return turn === 'none' && OF_CARD.has(word ?? '') ? { ...failure, outdatesCard: true } : failure
}

/** Maps a reply with an error status. */
export function a2aRefusal(status: number, body: unknown, header: HeaderReader, isAnswer: boolean): Failure {
  const failure = readRefusal(status, body, header, isAnswer)
  // Where the card says that the agent is, there is nothing.
  const isGone = (status === 404 || status === 405) && failure.turn === undefined
  return isGone ? { ...failure, outdatesCard: true } : failure
}

function readRefusal(status: number, body: unknown, header: HeaderReader, isAnswer: boolean): Failure {
  return refusalReader((error, reply) =>
    a2aFailure(errorOf(error) ?? errorIn(error, false) ?? error, { ...reply, isAnswer, isWhole: true }),
  )(status, body, header)
}

/** The failure of a task that the agent reports itself, which its text explains. */
export function taskFailure(state: 'failed' | 'rejected', text: string): Failure {
  const reason = reasonOfRun(text)
  const usual = state === 'failed' ? 'agent_error' : 'agent_rejected_input'
  return failureOf(reason ?? usual, { code: state, message: text })
}

/** Whether an agent says that it knows no such task. */
export function isUnknownTask(error: JsonObject): boolean {
  return wordOf(error) === 'TASK_NOT_FOUND'
}

/** Whether a task has ended already, so that it need not be stopped. */
export function isOver(error: JsonObject): boolean {
  return isUnknownTask(error) || wordOf(error) === 'TASK_NOT_CANCELABLE'
}

/** The word of version 1.0 for an error; 0.3 has numbers alone. */
function wordOf(error: JsonObject): string | undefined {
  const infos = [...listOf(error.data), ...listOf(error.details)].map((info) => textOf(objectOf(info).reason))
  const word = infos.find((each) => each !== undefined)
  return word ?? (typeof error.code === 'number' ? WORDS.get(error.code) : undefined)
}
