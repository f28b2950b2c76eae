import { Readable } from 'node:stream'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import Type, { type Static } from 'typebox'
import { CALL_FACES, CALL_KINDS, FAILED_OUTCOMES, OUTCOMES } from '#core/ledger/call-kinds.ts'
import { AMOUNT_MAX, parseCallsQuery } from '#core/reports/calls-query.ts'
import { withMissingGroups } from '#core/reports/missing-groups.ts'
import { GRANULARITIES } from '#core/reports/range/calendar.ts'
import type { ReportInput } from '#core/reports/report-query.ts'
import { GROUPS } from '#core/reports/report-rows.ts'
import { allOf } from '#core/requests/input/all-of.ts'
import { readPage } from '#core/requests/input/pagination.ts'
import type { Services } from '#core/services/services.ts'
import { CALL_DESCRIPTIONS } from '#http/descriptions/call-descriptions.ts'
import { END_USER_DESCRIPTIONS } from '#http/descriptions/end-user-descriptions.ts'
import { USAGE_DESCRIPTIONS } from '#http/descriptions/usage-descriptions.ts'
import { ANY_PROBLEMS, anyCredential, callerOf } from '#http/guards/credentials.ts'
import { smallRead } from '#http/guards/small-read.ts'
import { abortedWith } from '#http/request/aborted-with.ts'
import { judgePage } from '#http/request/judge-page.ts'
import type { SoundRequest } from '#http/request/validation.ts'
import { sendCsv } from '#http/response/csv.ts'
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
import { callRecorder, instancesIn } from '#records/usage-record.ts'
import { csvOr, Format, range, requireFormat } from './csv-lists.ts'
import { CSV_ROWS, namesIn, reportHeader, reportRows } from './usage-csv.ts'
import { CALL_FIELDS, callRows, reportPieces } from './usage-pieces.ts'
import { CallSchema, UsageGroupValuesSchema, UsageReportSchema } from './usage-schemas.ts'

export function usageRoutes(
  app: FastifyInstance,
  services: Pick<Services, 'usage' | 'calls' | 'authentication' | 'keys' | 'users' | 'reads'> & {
    agents: Pick<Services['agents'], 'findMany'>
    audit: Pick<Services['audit'], 'exported'>
  },
): void {
  const { usage, calls } = services
  const routes = app.withTypeProvider<TypeBoxTypeProvider>()
  const onRequest = anyCredential(services)
  app.addSchema(UsageGroupValuesSchema)
  app.addSchema(UsageReportSchema)
  app.addSchema(CallSchema)

  const judgeReport = (request: FastifyRequest, { query }: SoundRequest) =>
    allOf({
      format: () => requireFormat(request),
      filter: () => usage.checkReport(reportInput((query ?? {}) as ReportParameters)),
    })
  const reporting = { schema: usageSchema, onRequest, config: { judge: judgeReport } }
  routes.get('/api/v1/usage', reporting, async (request, reply) => {
    requireFormat(request)
    const { format, rows = 'points', labels = false, previous = false } = request.query
    const caller = callerOf(request)
    const signal = abortedWith(reply)
    const report = await usage.report(caller, reportInput(request.query), showLimit(reply), signal)
    const isCompared = previous || report.compared !== undefined
    const compared = isCompared ? await usage.reportBefore(caller, report, signal) : undefined
    if (format === 'csv') {
      const options = { rows, labels, compared }
      const all = compared === undefined ? report : withMissingGroups(report, compared)
      const names = labels ? await namesIn(services, caller, all) : {}
      await services.audit.exported(caller, 'usage', request.query)
      return sendCsv(reply, 'usage', reportHeader(all, options), reportRows(all, options, names))
    }
    reply.type('application/json; charset=utf-8')
    return reply.send(Readable.from(reportPieces(report, compared)))
  })

  const listing = { schema: callsSchema, onRequest, config: { judge: judgeCalls } }
  routes.get('/api/v1/calls', listing, async (request, reply) => {
    requireFormat(request)
    const { format, limit, cursor } = request.query
    const caller = callerOf(request)
    const filter = callsInput(request.query)
    const onLimit = showLimit(reply)
    const signal = abortedWith(reply)
    if (format === 'csv') {
      const rows = await calls.export(caller, filter, onLimit, signal)
      await services.audit.exported(caller, 'calls', request.query)
      const cells = callRows(rows, (ids) => calls.findInstances(caller, ids))
      return sendCsv(reply, 'calls', CALL_FIELDS, cells)
    }
    const page = await readPage({ limit, cursor }, (query) =>
      calls.list(caller, filter, query, onLimit, signal),
    )
    const instances = await calls.findInstances(caller, instancesIn(page.items))
    return success(pageRecord(page, callRecorder(instances)))
  })

  const getting = { schema: callSchema, onRequest, ...smallRead(services) }
  routes.get('/api/v1/calls/:id', getting, async (request) => {
    const caller = callerOf(request)
    const call = await calls.find(caller, request.params.id)
    const instances = await calls.findInstances(caller, instancesIn([call]))
    return success(callRecorder(instances)(call))
  })
}

type ReportParameters = Static<typeof usageSchema.querystring>
type CallsParameters = Static<typeof callsSchema.querystring>

function reportInput({
  group_by,
  compare_from,
  compare_to,
  format: _format,
  rows: _rows,
  labels: _labels,
  previous: _previous,
  ...filter
}: ReportParameters): ReportInput {
  return {
    ...conditionsOf(filter),
    groupBy: group_by ? group_by.split(',') : [],
    compareFrom: compare_from,
    compareTo: compare_to,
  }
}

function callsInput({
  request_id,
  first_chunk_ms_min,
  duration_ms_min,
  total_tokens_min,
  format: _format,
  limit: _limit,
  cursor: _cursor,
  ...filter
}: CallsParameters) {
  return {
    ...conditionsOf(filter),
    requestId: request_id,
    firstChunkMsMin: first_chunk_ms_min,
    durationMsMin: duration_ms_min,
    totalTokensMin: total_tokens_min,
  }
}

function judgeCalls(request: FastifyRequest, { query }: SoundRequest): void {
  const parameters = (query ?? {}) as CallsParameters
  allOf({
    format: () => requireFormat(request),
    page: () => judgePage(request, { query }),
    filter: () => parseCallsQuery(callsInput(parameters)),
  })
}

interface Conditions {
  readonly key_id?: string
  readonly owner_id?: string
  readonly end_user?: string
  readonly outcome?: string
}

/** The conditions of a query by core's names. */
function conditionsOf<Rest>({ key_id, owner_id, end_user, outcome, ...rest }: Conditions & Rest) {
  return { ...rest, keyId: key_id, ownerId: owner_id, endUser: end_user, outcome: outcome?.split(',') }
}

const Filters = {
  key_id: Type.Optional(Type.String({ maxLength: 64, description: CALL_DESCRIPTIONS.ofKey })),
  owner_id: Type.Optional(Type.String({ maxLength: 64, description: CALL_DESCRIPTIONS.ofUser })),
  agent: Type.Optional(
    Type.String({
      maxLength: 32,
      description: CALL_DESCRIPTIONS.toAgent,
    }),
  ),
  model: Type.Optional(Type.String({ maxLength: 256, description: CALL_DESCRIPTIONS.ofModel })),
  ...Format,
}

/** Several outcomes in one text, as `group_by` takes several groups. */
function outcomes(words: readonly string[]) {
  return Type.Optional(
    Type.String({
      maxLength: 100,
      description: `Only calls of which one of these is true, separated by commas, out of ${words.join(', ')}, and failed, which stands for ${FAILED_OUTCOMES.join(', ')}.`,
    }),
  )
}

const common = {
  tags: ['usage'],
  security: [{ accessToken: [] }, { apiKey: [] }],
}

const WHOSE =
  'Users see the calls of their own keys, administrators all calls, and an API key without the permission `admin` only its own calls.'
const FOR_ADMINS =
  "The fields with the platform's own words and with the process that served the call are shown only to administrators."

const REASONS = [...ANY_PROBLEMS, 'invalid_request', 'key_not_found', 'user_not_found'] as const

const COMPARED =
  'The report then has that period as `previous`, and the CSV its columns, with names that begin with `before_`; both periods count as one report.'

const usageSchema = {
  ...common,
  operationId: 'readUsage',
  'x-response-headers': LIMIT_HEADERS,
  summary: 'Report usage',
  description: `Counts the calls that have ended, by the hour, day or month in which they were admitted, without gaps. ${WHOSE} ${END_USER_DESCRIPTIONS.bound}`,
  querystring: listQuery({
    ...Filters,
    ...range(USAGE_DESCRIPTIONS),
    app: Type.Optional(Type.String({ maxLength: 256, description: USAGE_DESCRIPTIONS.ofApp })),
    end_user: Type.Optional(Type.String({ maxLength: 256, description: USAGE_DESCRIPTIONS.ofEndUser })),
    outcome: outcomes(OUTCOMES),
    granularity: Type.Optional(
      oneOf(
        GRANULARITIES,
        'The length of the buckets; the default is `day`. Without `from`, the report covers the last day by the hour, the last 30 days by the day or the last 365 days by the month.',
      ),
    ),
    group_by: Type.Optional(
      Type.String({
        maxLength: 100,
        description: `The properties by which to group, separated by commas, out of ${GROUPS.join(', ')}. \`conversation\` stands alone and needs \`agent\`: the report then has the 100 conversations that were used last, by their ids at the gateway, and is read from the ledger.`,
      }),
    ),
    rows: Type.Optional(
      oneOf(
        CSV_ROWS,
        'What the rows of the CSV are: `points` (the default) for each bucket of each group, `totals` for each group over the whole range.',
      ),
    ),
    labels: Type.Optional(
      Type.Boolean({
        description:
          'Whether the CSV also has what people read: the column `time` as the clocks of the time zone show it, and the names of agents, keys and users beside their ids; false by default.',
      }),
    ),
    previous: Type.Optional(
      Type.Boolean({
        description: `Whether to compare the report with the period before, which is as long and ends where the report begins; false by default. ${COMPARED}`,
      }),
    ),
    compare_from: Type.Optional(
      Type.String({
        maxLength: 40,
        description: `${USAGE_DESCRIPTIONS.compareFrom} It takes the place of the period before. ${COMPARED}`,
      }),
    ),
    compare_to: Type.Optional(Type.String({ maxLength: 40, description: USAGE_DESCRIPTIONS.compareTo })),
  }),
  response: { 200: csvOr(envelope(ref(UsageReportSchema))), ...problems(...REASONS) },
}

const callsSchema = {
  ...common,
  operationId: 'listCalls',
  'x-response-headers': LIMIT_HEADERS,
  summary: 'List calls',
  description: `Returns the calls of the ledger, newest first, including those that still run. ${WHOSE} ${END_USER_DESCRIPTIONS.bound} ${FOR_ADMINS} The CSV format returns all calls at once, without pages.`,
  querystring: listQuery({
    ...PageQuery,
    ...Filters,
    ...range(CALL_DESCRIPTIONS),
    app: Type.Optional(Type.String({ maxLength: 256, description: CALL_DESCRIPTIONS.ofApp })),
    end_user: Type.Optional(Type.String({ maxLength: 256, description: CALL_DESCRIPTIONS.ofEndUser })),
    deployment: Type.Optional(Type.String({ maxLength: 256, description: CALL_DESCRIPTIONS.ofDeployment })),
    kind: Type.Optional(oneOf(CALL_KINDS, CALL_DESCRIPTIONS.ofKind)),
    face: Type.Optional(oneOf(CALL_FACES, CALL_DESCRIPTIONS.throughFace)),
    outcome: outcomes([...OUTCOMES, 'running']),
    reason: Type.Optional(Type.String({ maxLength: 64, description: CALL_DESCRIPTIONS.ofReason })),
    paused: Type.Optional(Type.Boolean({ description: CALL_DESCRIPTIONS.ofPaused })),
    first_chunk_ms_min: Type.Optional(
      Type.Integer({ minimum: 0, maximum: AMOUNT_MAX, description: CALL_DESCRIPTIONS.firstChunkMsMin }),
    ),
    duration_ms_min: Type.Optional(
      Type.Integer({ minimum: 0, maximum: AMOUNT_MAX, description: CALL_DESCRIPTIONS.durationMsMin }),
    ),
    total_tokens_min: Type.Optional(
      Type.Integer({ minimum: 0, maximum: AMOUNT_MAX, description: CALL_DESCRIPTIONS.totalTokensMin }),
    ),
    request_id: Type.Optional(Type.String({ maxLength: 128, description: CALL_DESCRIPTIONS.ofRequest })),
    conversation: Type.Optional(
      Type.String({
        maxLength: 256,
        description: CALL_DESCRIPTIONS.ofConversation,
      }),
    ),
  }),
  response: { 200: csvOr(envelope(page(ref(CallSchema)))), ...problems(...REASONS) },
}

const callSchema = {
  ...common,
  operationId: 'getCall',
  'x-response-headers': LIMIT_HEADERS,
  summary: 'Read a call',
  description: `Returns the record of a call, also while it runs. ${WHOSE} ${END_USER_DESCRIPTIONS.bound} ${FOR_ADMINS}`,
  params: Type.Object({ id: Type.String({ description: 'The id of the call.' }) }),
  response: {
    200: envelope(ref(CallSchema)),
    ...problems(...ANY_PROBLEMS, 'invalid_request', 'call_not_found'),
  },
}
