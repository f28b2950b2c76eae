import type { Static } from 'typebox'
import { createEventLoopYield } from '#core/async/event-loop-yield.ts'
import type { Quantiles } from '#core/ledger/histogram.ts'
import type { Report, Series } from '#core/reports/reports.ts'
import type { UsageMetrics } from '#core/reports/usage-accumulator.ts'
import type { Call } from '#generated/prisma/client.ts'
import type { Cell } from '#http/reply/csv.ts'
import { success } from '#http/reply/schemas.ts'
import { CallSchema } from './usage-schemas.ts'

/**
 * The JSON of a report, series by series. A large report has 10 MB; to serialise it in one go would block the event loop,
 * and with it every running call.
 */
export async function* reportPieces(report: Report): AsyncGenerator<string> {
  const { from, to, timezone, granularity, groupBy, totals, series } = report
  const yieldToEventLoop = createEventLoopYield()
  const query = { timezone, granularity, group_by: groupBy }
  const data = { ...query, from: from.toISOString(), to: to.toISOString(), totals: metricsRecord(totals) }
  const [before, after] = JSON.stringify(success({ ...data, series: [] })).split('"series":[]')
  yield `${before}"series":[`
  for (const [index, one] of series.entries()) {
    yield `${index === 0 ? '' : ','}${JSON.stringify(seriesRecord(one))}`
    await yieldToEventLoop()
  }
  yield `]${after}`
}

function seriesRecord({ group, totals, points }: Series) {
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

export function reportHeader({ groupBy }: Report): string[] {
  const quantile = (name: string) => ['p50', 'p95', 'p99'].map((point) => `${name}_${point}`)
  return [
    'start',
    ...groupBy,
    'calls',
    'failed_calls',
    'prompt_tokens',
    'completion_tokens',
    'total_tokens',
    'token_coverage',
    ...quantile('first_chunk_ms'),
    ...quantile('duration_ms'),
  ]
}

export function* reportRows({ series, groupBy }: Report): Generator<Cell[]> {
  for (const { group, points } of series) {
    for (const { start, ...metrics } of points) {
      yield [
        start,
        ...groupBy.map((name) => group[name] ?? ''),
        metrics.calls,
        metrics.failedCalls,
        metrics.promptTokens,
        metrics.completionTokens,
        metrics.totalTokens,
        metrics.tokenCoverage,
        ...quantileCells(metrics.firstChunkMs),
        ...quantileCells(metrics.durationMs),
      ]
    }
  }
}

function quantileCells(quantiles: Quantiles | null): Cell[] {
  return quantiles === null ? [null, null, null] : [quantiles.p50, quantiles.p95, quantiles.p99]
}

export function callRecord(call: Call): Static<typeof CallSchema> {
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

export const CALL_FIELDS = Object.keys(CallSchema.properties)

export async function* callRows(calls: AsyncIterable<Call>): AsyncGenerator<Cell[]> {
  for await (const call of calls) yield Object.values(callRecord(call))
}
