import type { Report, Series } from '#core/reports/reports.ts'
import type { UsageMetrics } from '#core/reports/usage-accumulator.ts'
import type { Call } from '#generated/prisma/client.ts'

/** A report as REST and the command line write it. */
export function reportRecord({ from, to, timezone, granularity, groupBy, totals, series }: Report) {
  return {
    timezone,
    granularity,
    group_by: groupBy,
    from: from.toISOString(),
    to: to.toISOString(),
    totals: metricsRecord(totals),
    series: series.map(seriesRecord),
  }
}

export function seriesRecord({ group, totals, points }: Series) {
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
    first_chunk_ms: metrics.firstChunkMs,
    duration_ms: metrics.durationMs,
  }
}

export function callRecord(call: Call) {
  return {
    id: call.id,
    request_id: call.requestId,
    key_id: call.keyId,
    owner_id: call.ownerId,
    end_user: call.endUser,
    kind: call.kind,
    face: call.face,
    agent: call.agent,
    app: call.app,
    model: call.model,
    conversation: call.conversation,
    outcome: call.outcome,
    reason: call.reason,
    platform_status: call.platformStatus,
    platform_code: call.platformCode,
    platform_log_id: call.platformLogId,
    prompt_tokens: call.promptTokens,
    completion_tokens: call.completionTokens,
    total_tokens: call.totalTokens,
    admitted_at: call.admittedAt.toISOString(),
    first_chunk_ms: call.firstChunkMs,
    duration_ms: call.durationMs,
    ended_at: call.endedAt?.toISOString() ?? null,
  }
}
