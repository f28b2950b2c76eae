import type { FastifyInstance, FastifyRequest, onRequestAsyncHookHandler } from 'fastify'
import type { ErrorReason } from '#core/errors/errors.ts'
import type { RecordList } from '#core/reports/record-list.ts'
import { allOf, ifGiven } from '#core/requests/input/all-of.ts'
import { readOrderedPage } from '#core/requests/input/pagination.ts'
import type { Principal } from '#core/requests/principal.ts'
import type { Services } from '#core/services/services.ts'
import { callerOf } from '#http/guards/credentials.ts'
import type { smallRead } from '#http/guards/small-read.ts'
import { abortedWith } from '#http/request/aborted-with.ts'
import type { SoundRequest } from '#http/request/validation.ts'
import { type Cell, sendCsv } from '#http/response/csv.ts'
import { showLimit } from '#http/response/limit-headers.ts'
import { LIMIT_HEADERS } from '#http/response/response-headers.ts'
import {
  envelope,
  listQuery,
  PageQuery,
  page,
  pageRecord,
  problems,
  ref,
  success,
} from '#http/response/schemas.ts'
import { conditionParameters, conditionsIn, type ListDefinition } from '#resources/define-list.ts'
import type { Fields } from '#resources/resource.ts'
import { csvOr, Format, range, requireFormat } from './csv-lists.ts'

interface ListParts<Row, Input> {
  readonly list: Pick<RecordList<Input, Row & { readonly cursor: string }>, 'list'> &
    Pick<RecordList<Input, Row>, 'export'>
  readonly onRequest: onRequestAsyncHookHandler
  readonly reasons: readonly ErrorReason[]
  /** @throws Problem `invalid_request` */
  checkCursor(cursor: string): unknown
  /** @throws Problem `invalid_request` with all mistakes */
  check(input: Input, caller: Principal): unknown
  /** What bounds the reads of its pages. */
  readonly bounds?: ReturnType<typeof smallRead>
  /** The cells of a row of the CSV, by default the values of its record. */
  cells?(row: Row): Record<string, unknown>
}

/** Serves a list as pages of JSON and as one CSV, each export of which is on record in the audit log. */
export function listRoute<Row extends object, Input extends object>(
  app: FastifyInstance,
  { audit }: { readonly audit: Pick<Services['audit'], 'exported'> },
  definition: ListDefinition<Row, Fields>,
  {
    list,
    onRequest,
    reasons,
    checkCursor,
    check,
    cells = definition.of.record,
    bounds,
  }: ListParts<Row, Input>,
): void {
  const { of: resource, path, conditions, operationId, summary, description } = definition
  app.addSchema(resource.schema)

  const inputOf = ({ from, to, timezone, ...query }: Query) =>
    ({ ...conditionsIn(conditions, query), from, to, timezone }) as unknown as Input
  const judge = (request: FastifyRequest, { query }: SoundRequest) => {
    const parameters = (query ?? {}) as Query
    allOf({
      format: () => requireFormat(request),
      cursor: () => ifGiven(parameters.cursor, checkCursor),
      filter: () => check(inputOf(parameters), callerOf(request)),
    })
  }
  async function* rowsOf(rows: AsyncIterable<Row>): AsyncGenerator<Cell[]> {
    for await (const row of rows) yield Object.values(cells(row)) as Cell[]
  }

  const schema = {
    tags: [path],
    security: [{ accessToken: [] }, { apiKey: [] }],
    operationId,
    'x-response-headers': LIMIT_HEADERS,
    summary,
    description,
    querystring: listQuery({
      ...PageQuery,
      ...conditionParameters(conditions),
      ...(definition.range !== undefined && range(definition.range)),
      ...Format,
    }),
    response: { 200: csvOr(envelope(page(ref(resource.schema)))), ...problems(...reasons) },
  }
  app.get<{ Querystring: Query }>(
    `/api/v1/${path}`,
    { schema, onRequest, config: { judge }, ...bounds },
    async (request, reply) => {
      requireFormat(request)
      const { format, limit, cursor } = request.query
      const caller = callerOf(request)
      const input = inputOf(request.query)
      const onLimit = showLimit(reply)
      const signal = abortedWith(reply)
      if (format === 'csv') {
        const rows = await list.export(caller, input, onLimit, signal)
        await audit.exported(caller, path, request.query)
        return sendCsv(reply, path, resource.columns, rowsOf(rows))
      }
      const found = await readOrderedPage({ limit, cursor }, (position) =>
        list.list(caller, input, position, onLimit, signal),
      )
      return success(pageRecord(found, resource.record))
    },
  )
}

interface Query {
  readonly format?: 'json' | 'csv'
  readonly limit?: number
  readonly cursor?: string
  readonly [parameter: string]: unknown
}
