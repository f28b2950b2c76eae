import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { withMissingGroups } from '#core/reports/missing-groups.ts'
import type { ReportInput } from '#core/reports/report-query.ts'
import { GROUPS } from '#core/reports/report-rows.ts'
import { allOf } from '#core/requests/input/all-of.ts'
import type { Services } from '#core/services/services.ts'
import { ANY_PROBLEMS, anyCredential, callerOf } from '#http/guards/credentials.ts'
import { abortedWith } from '#http/request/aborted-with.ts'
import type { SoundRequest } from '#http/request/validation.ts'
import { sendCsv } from '#http/response/csv.ts'
import { LIMIT_HEADERS } from '#http/response/response-headers.ts'
import { envelope, listQuery, oneOf, problems, ref } from '#http/response/schemas.ts'
import { showLimit } from '#http/response/show-headers.ts'
import { visibleCalls } from '#resources/call.ts'
import { conditionParameters, conditionsIn } from '#resources/define/define-list.ts'
import { GRANULARITY, USAGE_CONDITIONS, USAGE_RANGE } from '#resources/usage.ts'
import { REPORT_TEXTS, UsageGroupValuesSchema, UsageReportSchema } from '#resources/usage-report.ts'
import { csvOr, Format, range, requireFormat } from './csv-lists.ts'
import { CSV_ROWS, namesIn, type ReportCsvOptions, reportHeader, reportRows } from './usage-csv.ts'
import { reportPieces } from './usage-pieces.ts'

export function usageRoutes(
  app: FastifyInstance,
  services: Pick<Services, 'usage' | 'authentication' | 'keys' | 'users'> & {
    agents: Pick<Services['agents'], 'findMany'>
    audit: Pick<Services['audit'], 'exported'>
  },
): void {
  const { usage } = services
  app.addSchema(UsageGroupValuesSchema)
  app.addSchema(UsageReportSchema)

  const judge = (request: FastifyRequest, { query }: SoundRequest) =>
    allOf({
      format: () => requireFormat(request),
      filter: () => usage.checkReport(reportInput((query ?? {}) as ReportParameters)),
    })
  const reporting = { schema: usageSchema, onRequest: anyCredential(services), config: { judge } }
  app.get<{ Querystring: ReportParameters }>('/api/v1/usage', reporting, async (request, reply) => {
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
}

type ReportParameters = Pick<ReportInput, 'from' | 'to' | 'timezone' | 'granularity'> &
  Partial<Pick<ReportCsvOptions, 'rows' | 'labels'>> & {
    readonly group_by?: string
    readonly compare_from?: string
    readonly compare_to?: string
    readonly previous?: boolean
    readonly format?: 'json' | 'csv'
  }

function reportInput(query: ReportParameters): ReportInput {
  const { from, to, timezone, granularity, group_by: groupBy } = query
  return {
    ...conditionsIn(USAGE_CONDITIONS, query),
    ...{ from, to, timezone, granularity },
    groupBy: groupBy ? groupBy.split(',') : [],
    compareFrom: query.compare_from,
    compareTo: query.compare_to,
  }
}

const COMPARED =
  'The report then has that period as `previous`, and the CSV its columns, with names that begin with `before_`; both periods count as one report.'

const usageSchema = {
  tags: ['usage'],
  security: [{ accessToken: [] }, { apiKey: [] }],
  operationId: 'readUsage',
  'x-response-headers': LIMIT_HEADERS,
  summary: 'Report usage',
  description: `Counts the calls that have ended, by the hour, day or month in which they were admitted, without gaps. ${visibleCalls('admin')}`,
  querystring: listQuery({
    ...conditionParameters(USAGE_CONDITIONS),
    ...range(USAGE_RANGE),
    granularity: Type.Optional(
      oneOf(
        GRANULARITY.words,
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
        description: `${REPORT_TEXTS.compareFrom} It takes the place of the period before. ${COMPARED}`,
      }),
    ),
    compare_to: Type.Optional(Type.String({ maxLength: 40, description: REPORT_TEXTS.compareTo })),
    ...Format,
  }),
  response: {
    200: csvOr(envelope(ref(UsageReportSchema))),
    ...problems(...ANY_PROBLEMS, 'invalid_request', 'key_not_found', 'user_not_found'),
  },
}
