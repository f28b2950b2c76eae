import type { Rating } from '#core/agents/adapter.ts'
import type { CallFace, CallKind, CallOutcome } from '#core/ledger/call-kinds.ts'
import type { CallInstance } from '#core/reports/call-instances.ts'
import type { Report, ReportGroup } from '#core/reports/reports.ts'
import type { UsageMetrics } from '#core/reports/usage-accumulator.ts'
import type { Call } from '#generated/prisma/client.ts'

/** A report as REST and the command line write it. */
export function reportRecord({ from, to, timezone, granularity, groupBy, totals, groups }: Report) {
  return {
    timezone,
    granularity,
    group_by: groupBy,
    from: from.toISOString(),
    to: to.toISOString(),
    totals: metricsRecord(totals),
    groups: groups.map(groupRecord),
  }
}

export function groupRecord({ group, totals, points }: ReportGroup) {
  return {
    group,
    totals: metricsRecord(totals),
    points: points.map(({ start, ...metrics }) => ({
      start: start.toISOString(),
      ...metricsRecord(metrics),
    })),
  }
}

function metricsRecord(metrics: UsageMetrics) {
  return {
    calls: metrics.calls,
    failed_calls: metrics.failedCalls,
    prompt_tokens: metrics.promptTokens,
    completion_tokens: metrics.completionTokens,
    total_tokens: metrics.totalTokens,
    token_coverage: metrics.tokenCoverage,
    rated_up: metrics.ratedUp,
    rated_down: metrics.ratedDown,
    first_chunk_ms: metrics.firstChunkMs,
    duration_ms: metrics.durationMs,
  }
}

/** The ids of the processes that served the calls. */
export function instancesIn(calls: readonly Call[]): string[] {
  return calls.map(({ instance }) => instance)
}

/** Makes the records of calls that these processes served. */
export function callRecorder(instances: readonly CallInstance[]) {
  const known = new Map(instances.map((instance) => [instance.id, instance]))
  return (call: Call) => callRecord(call, known.get(call.instance))
}

/** @param instance - the process that served the call; undefined if the caller may not see it */
export function callRecord(call: Call, instance: CallInstance | undefined) {
  return {
    id: call.id,
    request_id: call.requestId,
    key_id: call.keyId,
    owner_id: call.ownerId,
    end_user: call.endUser,
    kind: call.kind as CallKind,
    face: call.face as CallFace,
    agent: call.agent,
    app: call.app,
    deployment: call.deployment,
    model: call.model,
    conversation: call.conversation,
    outcome: call.outcome as CallOutcome | null,
    reason: call.reason,
    attempts: call.attempts,
    platform_status: call.platformStatus,
    platform_code: call.platformCode,
    platform_log_id: call.platformLogId,
    instance_id: instance?.id ?? null,
    instance_host: instance?.host ?? null,
    instance_pid: instance?.pid ?? null,
    instance_version: instance?.version ?? null,
    trace_id: call.traceId,
    prompt_tokens: call.promptTokens,
    completion_tokens: call.completionTokens,
    total_tokens: call.totalTokens,
    admitted_at: call.admittedAt.toISOString(),
    queued_ms: call.queuedMs,
    first_chunk_ms: call.firstChunkMs,
    duration_ms: call.durationMs,
    ended_at: call.endedAt?.toISOString() ?? null,
    replays: call.replays,
    paused: call.paused,
    answers: call.answers,
    answered_by: call.answeredBy,
    rating: call.rating as Rating | null,
    rating_text: call.ratingText,
  }
}
