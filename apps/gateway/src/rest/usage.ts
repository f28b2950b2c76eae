import { Readable } from 'node:stream'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance } from 'fastify'
import Type, { type Static } from 'typebox'
import { fail } from '#core/errors.ts'
import type { Page } from '#core/pagination.ts'
import { createPauses } from '#core/pauses.ts'
import type { Runtime } from '#core/runtime.ts'
import type { Services } from '#core/services/services.ts'
import { parseInstant } from '#core/timestamp.ts'
import type { CallRecord } from '#core/usage/calls.ts'
import type { Quantiles } from '#core/usage/histogram.ts'
import { GROUPS, type Group } from '#core/usage/report-rows.ts'
import type { Report, Series } from '#core/usage/reports.ts'
import type { Metrics } from '#core/usage/usage-accumulator.ts'
import { ANY_PROBLEMS, callerOf, credentialId, requireAny } from '#http/credentials.ts'
import { type Cell, sendCsv } from '#http/csv.ts'
import { enforceLimit } from '#http/limit-headers.ts'
import { envelope, oneOf, PageQuery, page, problems, ref, success } from '#http/schemas.ts'
import { CallSchema, OUTCOMES, UsageReportSchema } from './usage-schemas.ts'

export function usageRoutes(
  app: FastifyInstance,
  services: Pick<Services, 'usage' | 'limits' | 'authentication'>,
  runtime: Pick<Runtime, 'now'>,
): void {
  const { usage, limits } = services
  const routes = app.withTypeProvider<TypeBoxTypeProvider>()
  const onRequest = requireAny(services)
  app.addSchema(UsageReportSchema)
  app.addSchema(CallSchema)

  routes.get('/api/v1/usage', { schema: usageSchema, onRequest }, async (request, reply) => {
    const {
      from,
      to,
      timezone = 'UTC',
      granularity = 'day',
      group_by,
      key_id,
      user_id,
      agent,
      format,
    } = request.query
    const groupBy = groupsOf(group_by)
    const range = rangeOf(from, to, granularity, runtime.now())
    const caller = callerOf(request)
    enforceLimit(reply, await limits.reports.take(credentialId(caller)))
    const report = await usage.report(caller, {
      ...range,
      timezone,
      granularity,
      groupBy,
      keyId: key_id,
      userId: user_id,
      agent,
    })
    if (format === 'csv') return sendCsv(reply, 'usage', reportHeader(groupBy), reportRows(report, groupBy))
    reply.type('application/json; charset=utf-8')
    return reply.send(Readable.from(reportPieces({ timezone, granularity, group_by: groupBy }, report)))
  })

  routes.get('/api/v1/calls', { schema: callsSchema, onRequest }, async (request, reply) => {
    const {
      limit = 20,
      cursor,
      key_id,
      user_id,
      agent,
      outcome,
      request_id,
      from,
      to,
      format,
    } = request.query
    const caller = callerOf(request)
    const query = {
      keyId: key_id,
      userId: user_id,
      agent,
      outcome,
      requestId: request_id,
      from: from === undefined ? undefined : instantOf('from', from),
      to: to === undefined ? undefined : instantOf('to', to),
    }
    enforceLimit(reply, await limits.calls.take(credentialId(caller)))
    if (format === 'csv') {
      // Read before the first byte goes out: a refusal is an ordinary error.
      const first = await usage.calls(caller, query, { limit: CSV_PAGE })
      const next = (position: string) => usage.calls(caller, query, { limit: CSV_PAGE, cursor: position })
      return sendCsv(reply, 'calls', CALL_FIELDS, callRows(first, next))
    }
    const { items, nextCursor } = await usage.calls(caller, query, { limit, cursor })
    return success({ items: items.map(callRecord), next_cursor: nextCursor })
  })
}

const DAY_MS = 86_400_000
const DEFAULT_DAYS = { hour: 1, day: 30, month: 365 } as const

/** Without a range: the last day by the hour, month by the day, year by the month. */
function rangeOf(
  from: string | undefined,
  to: string | undefined,
  granularity: keyof typeof DEFAULT_DAYS,
  now: Date,
) {
  const end = to === undefined ? now : instantOf('to', to)
  const start =
    from === undefined
      ? new Date(end.getTime() - DEFAULT_DAYS[granularity] * DAY_MS)
      : instantOf('from', from)
  return { from: start, to: end }
}

function instantOf(field: string, text: string): Date {
  const expected = 'an ISO 8601 time with a zone, or a date, from 1970 on'
  return (
    parseInstant(text, { dates: true }) ?? fail('invalid_request', `query.${field}: expected ${expected}.`)
  )
}

function groupsOf(text: string | undefined): readonly Group[] {
  if (text === undefined || text === '') return []
  const names = text.split(',').map((name) => name.trim())
  for (const name of names) {
    if (!GROUPS.some((group) => group === name)) {
      fail('invalid_request', `query.group_by: expected a list of ${GROUPS.join(', ')}.`)
    }
  }
  return [...new Set(names as Group[])]
}

/** The JSON of a report, series by series: a large one has 10 MB, and written at once it would hold up every call. */
async function* reportPieces(asked: object, { from, to, totals, series }: Report): AsyncGenerator<string> {
  const pause = createPauses()
  const data = { ...asked, from: from.toISOString(), to: to.toISOString(), totals: metricsRecord(totals) }
  const [before, after] = JSON.stringify(success({ ...data, series: [] })).split('"series":[]')
  yield `${before}"series":[`
  for (const [index, one] of series.entries()) {
    yield `${index === 0 ? '' : ','}${JSON.stringify(seriesRecord(one))}`
    await pause()
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

function metricsRecord(metrics: Metrics) {
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

function reportHeader(groupBy: readonly Group[]): string[] {
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

function* reportRows({ series }: Report, groupBy: readonly Group[]): Generator<Cell[]> {
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

function callRecord(call: CallRecord): Static<typeof CallSchema> {
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

const CALL_FIELDS = Object.keys(CallSchema.properties)
const CSV_PAGE = 1_000

async function* callRows(
  first: Page<CallRecord>,
  next: (cursor: string) => Promise<Page<CallRecord>>,
): AsyncGenerator<Cell[]> {
  for (let page = first; ; page = await next(page.nextCursor)) {
    for (const call of page.items) yield Object.values(callRecord(call))
    if (page.nextCursor === null) return
  }
}

const Filters = {
  key_id: Type.Optional(Type.String({ maxLength: 64, description: 'Of one API key.' })),
  user_id: Type.Optional(Type.String({ maxLength: 64, description: "Of one user's keys." })),
  agent: Type.Optional(
    Type.String({ maxLength: 32, description: 'Of one agent, configured or called before.' }),
  ),
  from: Type.Optional(Type.String({ maxLength: 40, description: 'ISO 8601 with a zone, or a date (UTC).' })),
  to: Type.Optional(Type.String({ maxLength: 40, description: 'Not included.' })),
  format: Type.Optional(oneOf(['json', 'csv'])),
}

const common = {
  tags: ['usage'],
  security: [{ accessToken: [] }, { apiKey: [] }],
}

const REASONS = [...ANY_PROBLEMS, 'invalid_request', 'key_not_found', 'user_not_found'] as const

const usageSchema = {
  ...common,
  operationId: 'readUsage',
  summary: 'Report usage',
  description:
    'Settled calls, by the hour, day or month of their admission, without gaps. A user reads its own, an admin all, an API key without `admin` its own.',
  querystring: Type.Object(
    {
      ...Filters,
      timezone: Type.Optional(
        Type.String({ maxLength: 64, default: 'UTC', description: 'IANA name with a whole-hour offset.' }),
      ),
      granularity: Type.Optional(oneOf(['hour', 'day', 'month'])),
      group_by: Type.Optional(
        Type.String({ maxLength: 100, description: `A list of ${GROUPS.join(', ')}.` }),
      ),
    },
    { additionalProperties: false },
  ),
  response: { 200: csvOr(envelope(ref(UsageReportSchema))), ...problems(...REASONS) },
}

const callsSchema = {
  ...common,
  operationId: 'listCalls',
  summary: 'List calls',
  description: 'The ledger, newest first. What the platform said of itself is shown to admins.',
  querystring: Type.Object(
    {
      ...PageQuery,
      ...Filters,
      outcome: Type.Optional(oneOf([...OUTCOMES, 'running'])),
      request_id: Type.Optional(Type.String({ maxLength: 128 })),
    },
    { additionalProperties: false },
  ),
  response: { 200: csvOr(envelope(page(ref(CallSchema)))), ...problems(...REASONS) },
}

function csvOr(schema: object) {
  return {
    description: 'Success.',
    content: { 'application/json': { schema }, 'text/csv': { schema: Type.String() } },
  }
}
