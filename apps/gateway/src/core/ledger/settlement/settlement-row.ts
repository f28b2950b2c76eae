import type { ErrorReason } from '#core/base/errors/errors.ts'
import type { CallOutcome } from '#core/ledger/call-kinds.ts'
import type { Traced } from '#core/requests/request-trace.ts'

/** How an attempt of a call ended. */
export interface AttemptEnd {
  readonly deployment: string
  /** When its request was sent, or when it began if it failed before that, after the dispatch of the call. */
  readonly startMs: number
  readonly durationMs: number
  /** How the call would have ended with this attempt. */
  readonly outcome: CallOutcome
  readonly reason?: ErrorReason | undefined
  readonly platformStatus?: number | undefined
}

/** An {@link AttemptEnd} as the column `attempt_list` has it. The list is short: see `ATTEMPTS_LISTED_MAX`. */
export interface StoredAttempt {
  readonly deployment: string
  readonly start_ms: number
  readonly duration_ms: number
  readonly outcome: string
  readonly reason?: string | undefined
  readonly platform_status?: number | undefined
}

/** How a call ended; written exactly once. Token counts that are unknown are absent, not zero. */
export interface Settlement extends Traced {
  readonly callId: string
  readonly outcome: CallOutcome
  /** The deployment of the last attempt. */
  readonly deployment?: string | undefined
  /** How many requests were sent to platforms; absent for calls that send none, such as uploads. */
  readonly attempts?: number | undefined
  /** Present if there were several, or the only one failed. */
  readonly attemptList?: readonly AttemptEnd[] | undefined
  /** Absent if the call did not wait for a slot of its agent. */
  readonly queuedMs?: number | undefined
  readonly reason?: ErrorReason | undefined
  readonly model?: string | undefined
  readonly platformStatus?: number | undefined
  readonly platformCode?: string | undefined
  readonly platformLogId?: string | undefined
  readonly promptTokens?: number | undefined
  readonly completionTokens?: number | undefined
  readonly totalTokens?: number | undefined
  readonly firstChunkMs?: number | undefined
  readonly durationMs: number
  /** Whether the platform may have stored the turn of a chat. */
  readonly hasTurn?: boolean | undefined
  /** Whether the run waits for its user. */
  readonly paused?: boolean | undefined
  /** The id under which the platform keeps the answer. */
  readonly answerId?: string | undefined
  /** Whether the call belongs to a conversation that its client can go on with. */
  readonly isListed?: boolean | undefined
  /** The name of the conversation, if it begins with this call. */
  readonly conversationName?: string | undefined
}

/**
 * The settlement of a call of which the database has refused a value: without everything that is a text, which is what can be
 * refused. Its tokens and times stay.
 */
export function withoutTexts<Given extends Settlement>(settlement: Given): Given {
  return {
    ...settlement,
    outcome: 'interrupted',
    reason: 'interrupted',
    trace: undefined,
    deployment: undefined,
    attemptList: undefined,
    model: undefined,
    platformCode: undefined,
    platformLogId: undefined,
    paused: undefined,
    answerId: undefined,
    isListed: undefined,
    conversationName: undefined,
  }
}

/** A settlement as the statement takes it. */
export function settlementRow(settlement: Settlement): object {
  return {
    id: settlement.callId,
    outcome: settlement.outcome,
    deployment: settlement.deployment,
    attempts: settlement.attempts,
    attempt_list: settlement.attemptList?.map(storedAttempt),
    trace_id: settlement.trace?.traceId,
    queued_ms: storable(settlement.queuedMs),
    reason: settlement.reason,
    // The model is part of the primary key of the rollups, and PostgreSQL bounds the size of index entries.
    model: plain(settlement.model, 100),
    platform_status: storable(settlement.platformStatus),
    platform_code: plain(settlement.platformCode),
    platform_log_id: plain(settlement.platformLogId),
    prompt_tokens: storable(settlement.promptTokens),
    completion_tokens: storable(settlement.completionTokens),
    total_tokens: storable(settlement.totalTokens),
    first_chunk_ms: storable(settlement.firstChunkMs),
    duration_ms: storable(settlement.durationMs),
    has_turn: settlement.hasTurn,
    paused: settlement.paused,
    is_listed: settlement.isListed,
    conversation_name: settlement.conversationName,
    answer_id: settlement.answerId,
  }
}

function storedAttempt({
  deployment,
  startMs,
  durationMs,
  outcome,
  reason,
  platformStatus,
}: AttemptEnd): StoredAttempt {
  return {
    deployment,
    start_ms: Math.round(startMs),
    duration_ms: Math.round(durationMs),
    outcome,
    reason,
    platform_status: platformStatus,
  }
}

/** Makes a platform's text storable: PostgreSQL texts cannot contain NUL or lone surrogates. */
function plain(text: string | undefined, charactersMax = 200): string | undefined {
  return text?.slice(0, charactersMax).replaceAll('\0', '').toWellFormed()
}

/** Drops numbers that do not fit into an int4, since platforms may report anything as token counts. */
function storable(figure: number | undefined): number | undefined {
  return figure !== undefined && figure >= 0 && figure <= 0x7fffffff ? Math.round(figure) : undefined
}
