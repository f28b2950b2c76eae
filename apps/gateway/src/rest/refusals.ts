import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import type { RefusalCount } from '#core/reports/refusals/refusal-counts.ts'
import type { RefusalCountsInput } from '#core/reports/refusals/refusal-counts-query.ts'
import { parseRefusalsQuery } from '#core/reports/refusals/refusals-query.ts'
import { checkCursor } from '#core/requests/input/pagination.ts'
import type { Services } from '#core/services/services.ts'
import { ANY_PROBLEMS, anyCredential, callerOf } from '#http/guards/credentials.ts'
import { abortedWith } from '#http/request/aborted-with.ts'
import type { SoundRequest } from '#http/request/validation.ts'
import { type Cell, sendCsv } from '#http/response/csv.ts'
import { LIMIT_HEADERS } from '#http/response/response-headers.ts'
import { envelope, listQuery, oneOf, page, problems, ref, success } from '#http/response/schemas.ts'
import { showLimit } from '#http/response/show-headers.ts'
import { conditionParameters, conditionsIn } from '#resources/define/define-list.ts'
import {
  COUNT_CONDITIONS,
  COUNT_RANGE,
  COUNT_SPAN,
  PER,
  REFUSAL_COUNT,
  REFUSALS,
  visibleRefusals,
} from '#resources/refusal.ts'
import { csvOr, Format, range } from './csv-lists.ts'
import { listRoute } from './list-route.ts'

const REASONS = [
  ...ANY_PROBLEMS,
  'invalid_request',
  'permission_denied',
  'key_not_found',
  'user_not_found',
] as const

export function refusalRoutes(
  app: FastifyInstance,
  services: Pick<Services, 'refusals' | 'audit' | 'authentication'>,
): void {
  const { refusals } = services
  const onRequest = anyCredential(services)
  listRoute(app, services, REFUSALS, {
    list: refusals,
    onRequest,
    reasons: REASONS,
    checkCursor,
    check: parseRefusalsQuery,
  })

  app.addSchema(REFUSAL_COUNT.schema)
  const judge = (_request: unknown, { query }: SoundRequest) =>
    refusals.checkCounts(countsInput((query ?? {}) as CountsParameters))
  const counting = { schema: countsSchema, onRequest, config: { judge } }
  app.get<{ Querystring: CountsParameters }>('/api/v1/refusals/counts', counting, async (request, reply) => {
    const caller = callerOf(request)
    const input = countsInput(request.query)
    const counts = await refusals.counts(caller, input, showLimit(reply), abortedWith(reply))
    if (request.query.format === 'csv') {
      await services.audit.exported(caller, 'refusal-counts', request.query)
      return sendCsv(reply, 'refusal-counts', REFUSAL_COUNT.columns, countRows(counts))
    }
    return success({ items: counts.map(REFUSAL_COUNT.record), next_cursor: null })
  })
}

function* countRows(counts: readonly RefusalCount[]): Generator<Cell[]> {
  for (const counted of counts) yield Object.values(REFUSAL_COUNT.record(counted))
}

type CountsParameters = Pick<RefusalCountsInput, 'from' | 'to' | 'timezone' | 'per'> & {
  readonly format?: 'json' | 'csv'
}

function countsInput({ from, to, timezone, per, ...query }: CountsParameters): RefusalCountsInput {
  return { ...conditionsIn(COUNT_CONDITIONS, query), from, to, timezone, per }
}

const countsSchema = {
  tags: ['refusals'],
  security: [{ accessToken: [] }, { apiKey: [] }],
  'x-response-headers': LIMIT_HEADERS,
  operationId: 'countRefusals',
  summary: 'Count refused requests',
  description: `Counts refused requests of the last 30 days by the minute, hour or day, and by API key, owner, agent, reason and limit: in the order of time, and the most frequent first. More than 10,000 counts are refused. ${visibleRefusals('admin')} Requests of unknown credentials are counted by reason alone.`,
  querystring: listQuery({
    ...conditionParameters(COUNT_CONDITIONS),
    ...range(COUNT_RANGE),
    per: Type.Optional({ ...oneOf(COUNT_SPAN.words, PER), default: 'hour' }),
    ...Format,
  }),
  response: { 200: csvOr(envelope(page(ref(REFUSAL_COUNT.schema)))), ...problems(...REASONS) },
}
