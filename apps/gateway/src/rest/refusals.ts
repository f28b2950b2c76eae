import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import Type, { type Static } from 'typebox'
import type { RefusalCount } from '#core/reports/refusals/refusal-counts.ts'
import { COUNT_SPANS } from '#core/reports/refusals/refusal-counts-query.ts'
import type { Refusal } from '#core/reports/refusals/refusals.ts'
import { parseRefusalsQuery } from '#core/reports/refusals/refusals-query.ts'
import { allOf } from '#core/requests/input/all-of.ts'
import { readOrderedPage } from '#core/requests/input/pagination.ts'
import type { Services } from '#core/services/services.ts'
import { REFUSAL_DESCRIPTIONS } from '#http/descriptions/refusal-descriptions.ts'
import { ANY_PROBLEMS, anyCredential, callerOf } from '#http/guards/credentials.ts'
import { abortedWith } from '#http/request/aborted-with.ts'
import { judgePage } from '#http/request/judge-page.ts'
import type { SoundRequest } from '#http/request/validation.ts'
import { type Cell, sendCsv } from '#http/response/csv.ts'
import { showLimit } from '#http/response/limit-headers.ts'
import { LIMIT_HEADERS } from '#http/response/response-headers.ts'
import {
  envelope,
  listQuery,
  oneOf,
  PageQuery,
  page,
  pageRecord,
  problems,
  ref,
  success,
} from '#http/response/schemas.ts'
import {
  RefusalCountSchema,
  RefusalSchema,
  refusalCountRecord,
  refusalRecord,
} from '#records/refusal-record.ts'
import { csvOr, Format, range, requireFormat } from './csv-lists.ts'

export function refusalRoutes(
  app: FastifyInstance,
  services: Pick<Services, 'refusals' | 'audit' | 'authentication'>,
): void {
  const { refusals } = services
  const routes = app.withTypeProvider<TypeBoxTypeProvider>()
  const onRequest = anyCredential(services)
  app.addSchema(RefusalSchema)
  app.addSchema(RefusalCountSchema)

  const listing = { schema: listSchema, onRequest, config: { judge: judgeList } }
  routes.get('/api/v1/refusals', listing, async (request, reply) => {
    requireFormat(request)
    const { format, limit, cursor } = request.query
    const caller = callerOf(request)
    const input = refusalsInput(request.query)
    const onLimit = showLimit(reply)
    const signal = abortedWith(reply)
    if (format === 'csv') {
      const rows = await refusals.export(caller, input, onLimit, signal)
      await services.audit.exported(caller, 'refusals', request.query)
      return sendCsv(reply, 'refusals', Object.keys(RefusalSchema.properties), refusalRows(rows))
    }
    const found = await readOrderedPage({ limit, cursor }, (query) =>
      refusals.list(caller, input, query, onLimit, signal),
    )
    return success(pageRecord(found, refusalRecord))
  })

  const judgeCounts = (_request: unknown, { query }: SoundRequest) =>
    refusals.checkCounts(countsInput((query ?? {}) as CountsParameters))
  const counting = { schema: countsSchema, onRequest, config: { judge: judgeCounts } }
  routes.get('/api/v1/refusals/counts', counting, async (request, reply) => {
    const caller = callerOf(request)
    const counts = await refusals.counts(
      caller,
      countsInput(request.query),
      showLimit(reply),
      abortedWith(reply),
    )
    if (request.query.format === 'csv') {
      await services.audit.exported(caller, 'refusal-counts', request.query)
      return sendCsv(reply, 'refusal-counts', Object.keys(RefusalCountSchema.properties), countRows(counts))
    }
    return success({ items: counts.map(refusalCountRecord), next_cursor: null })
  })
}

async function* refusalRows(refusals: AsyncIterable<Refusal>): AsyncGenerator<Cell[]> {
  for await (const refusal of refusals) yield Object.values(refusalRecord(refusal))
}

function* countRows(counts: readonly RefusalCount[]): Generator<Cell[]> {
  for (const counted of counts) yield Object.values(refusalCountRecord(counted))
}

type ListParameters = Static<typeof listSchema.querystring>
type CountsParameters = Static<typeof countsSchema.querystring>

function refusalsInput({
  request_id,
  format: _format,
  limit: _limit,
  cursor: _cursor,
  ...filter
}: ListParameters) {
  return { ...conditionsOf(filter), requestId: request_id }
}

function countsInput({ format: _format, ...filter }: CountsParameters) {
  return conditionsOf(filter)
}

interface Conditions {
  readonly key_id?: string
  readonly owner_id?: string
  readonly limit_name?: string
}

/** The conditions of a query by core's names. */
function conditionsOf<Rest>({ key_id, owner_id, limit_name, ...rest }: Conditions & Rest) {
  return { ...rest, keyId: key_id, ownerId: owner_id, limitName: limit_name }
}

function judgeList(request: FastifyRequest, { query }: SoundRequest): void {
  const parameters = (query ?? {}) as ListParameters
  allOf({
    format: () => requireFormat(request),
    page: () => judgePage(request, { query }),
    filter: () => parseRefusalsQuery(refusalsInput(parameters)),
  })
}

const Filters = {
  key_id: Type.Optional(Type.String({ maxLength: 64, description: REFUSAL_DESCRIPTIONS.ofKey })),
  owner_id: Type.Optional(Type.String({ maxLength: 64, description: REFUSAL_DESCRIPTIONS.ofUser })),
  agent: Type.Optional(Type.String({ maxLength: 32, description: REFUSAL_DESCRIPTIONS.toAgent })),
  reason: Type.Optional(Type.String({ maxLength: 64, description: REFUSAL_DESCRIPTIONS.ofReason })),
  // `limit` is the size of a page.
  limit_name: Type.Optional(Type.String({ maxLength: 256, description: REFUSAL_DESCRIPTIONS.ofLimit })),
  ...Format,
}

const common = {
  tags: ['refusals'],
  security: [{ accessToken: [] }, { apiKey: [] }],
  'x-response-headers': LIMIT_HEADERS,
}

const VISIBLE =
  'Users see the refusals of their own credentials, administrators all, and an API key without the permission `admin` only its own. They are recorded without end users, so that a request that a trusted proxy has bound to one is refused.'

const REASONS = [
  ...ANY_PROBLEMS,
  'invalid_request',
  'permission_denied',
  'key_not_found',
  'user_not_found',
] as const

const listSchema = {
  ...common,
  operationId: 'listRefusals',
  summary: 'List refused requests',
  description: `Returns refused requests of the last day, newest first: the first ones of each reason, credential and hour. ${VISIBLE} The CSV format returns all of them at once, without pages.`,
  querystring: listQuery({
    ...PageQuery,
    ...Filters,
    ...range(REFUSAL_DESCRIPTIONS),
    request_id: Type.Optional(Type.String({ maxLength: 128, description: REFUSAL_DESCRIPTIONS.ofRequest })),
  }),
  response: { 200: csvOr(envelope(page(ref(RefusalSchema)))), ...problems(...REASONS) },
}

const countsSchema = {
  ...common,
  operationId: 'countRefusals',
  summary: 'Count refused requests',
  description: `Counts refused requests of the last 30 days by the minute, hour or day, and by API key, owner, agent, reason and limit: in the order of time, and the most frequent first. More than 10,000 counts are refused. ${VISIBLE} Requests of unknown credentials are counted by reason alone.`,
  querystring: listQuery({
    ...Filters,
    ...range({
      fromTime: REFUSAL_DESCRIPTIONS.countsFromTime,
      toTime: REFUSAL_DESCRIPTIONS.countsToTime,
      timezoneName: REFUSAL_DESCRIPTIONS.countsTimezoneName,
    }),
    per: Type.Optional({ ...oneOf(COUNT_SPANS, REFUSAL_DESCRIPTIONS.per), default: 'hour' }),
  }),
  response: { 200: csvOr(envelope(page(ref(RefusalCountSchema)))), ...problems(...REASONS) },
}
