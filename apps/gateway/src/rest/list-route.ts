import type { FastifyInstance, FastifyRequest, onRequestAsyncHookHandler } from 'fastify'
import type { ErrorReason } from '#core/base/errors/errors.ts'
import type { Direction } from '#core/lists/list-order.ts'
import type { OrderedQuery } from '#core/lists/ordered-lists.ts'
import type { RecordList } from '#core/reports/record-list.ts'
import { allOf, ifGiven } from '#core/requests/input/all-of.ts'
import { readOrderedPage } from '#core/requests/input/pagination.ts'
import type { Principal } from '#core/requests/principal.ts'
import type { Services } from '#core/services/services.ts'
import { callerOf } from '#http/guards/credentials.ts'
import type { smallRead } from '#http/guards/small-read.ts'
import { abortedWith } from '#http/request/aborted-with.ts'
import { judgeList } from '#http/request/judge-page.ts'
import type { SoundRequest } from '#http/request/validation.ts'
import { type Cell, sendCsv } from '#http/response/csv.ts'
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
import { showLimit } from '#http/response/show-headers.ts'
import {
  conditionParameters,
  conditionsIn,
  type ListDefinition,
  type OrderedListDefinition,
  orderedQuery,
} from '#resources/define/define-list.ts'
import type { Fields } from '#resources/define/resource.ts'
import { csvOr, Format, range, requireFormat } from './csv-lists.ts'

interface ListParts<Row, Input, Seen> {
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
  /** What the values of a row depend on besides it. */
  readonly viewOf: (request: FastifyRequest) => Seen
  /** The cells of a row of the CSV, by default the values of its record. */
  cells?(row: Row): Record<string, unknown>
}

/** Only rows whose values depend on more than themselves need a view. */
type Parts<Row, Input, Seen> = unknown extends Seen
  ? Omit<ListParts<Row, Input, Seen>, 'viewOf'> & { readonly viewOf?: undefined }
  : ListParts<Row, Input, Seen>

/** Serves a list as pages of JSON and as one CSV, each export of which is on record in the audit log. */
export function listRoute<Row extends object, Input extends object, Seen = unknown>(
  app: FastifyInstance,
  { audit }: { readonly audit: Pick<Services['audit'], 'exported'> },
  definition: ListDefinition<Row, Fields, Seen>,
  { list, onRequest, reasons, checkCursor, check, cells, bounds, viewOf }: Parts<Row, Input, Seen>,
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
  async function* rowsOf(rows: AsyncIterable<Row>, cellsOf: (row: Row) => object): AsyncGenerator<Cell[]> {
    for await (const row of rows) yield Object.values(cellsOf(row)) as Cell[]
  }

  const schema = {
    ...commonOf(path, operationId),
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
      const view = viewOf?.(request) as Seen
      const recordOf = (row: Row) => resource.record(row, view)
      if (format === 'csv') {
        const rows = await list.export(caller, input, onLimit, signal)
        await audit.exported(caller, path, request.query)
        return sendCsv(reply, path, resource.columns, rowsOf(rows, cells ?? recordOf))
      }
      const found = await readOrderedPage({ limit, cursor }, (position) =>
        list.list(caller, input, position, onLimit, signal),
      )
      return success(pageRecord(found, recordOf))
    },
  )
}

interface OrderedListParts<Row, Order extends string, Filter, Seen> {
  readonly list: {
    list(caller: Principal, query: OrderedQuery<Order>, filter: Filter): Promise<(Row & { cursor: string })[]>
  }
  readonly onRequest: onRequestAsyncHookHandler
  readonly reasons: readonly ErrorReason[]
  readonly bounds: ReturnType<typeof smallRead>
  readonly viewOf: (request: FastifyRequest) => Seen
}

/** Serves a list in an order that callers choose, as pages of JSON. */
export function orderedListRoute<Row extends object, Order extends string, Filter extends object, Seen>(
  app: FastifyInstance,
  definition: OrderedListDefinition<Row, Order, Seen>,
  { list, onRequest, reasons, bounds, viewOf }: OrderedListParts<Row, Order, Filter, Seen>,
): void {
  const { of: resource, path, operationId, summary, description, conditions, orders } = definition
  const schema = {
    ...commonOf(path, operationId),
    summary,
    description,
    querystring: orderedQuery(definition),
    response: { 200: envelope(page(ref(resource.schema))), ...problems(...reasons) },
  }
  app.get<{ Querystring: Query & { readonly order_by?: Order; readonly order?: Direction } }>(
    `/api/v1/${path}`,
    { schema, onRequest, config: { judge: judgeList(orders.fields) }, ...bounds },
    async (request, reply) => {
      const { limit, cursor, order_by: orderBy, order } = request.query
      const filter = conditionsIn(conditions, request.query) as Filter
      const signal = abortedWith(reply)
      const found = await readOrderedPage({ limit, cursor }, (position) =>
        list.list(callerOf(request), { ...position, orderBy, order, signal }, filter),
      )
      const view = viewOf(request)
      return success(pageRecord(found, (row) => resource.record(row, view)))
    },
  )
}

function commonOf(path: string, operationId: string) {
  const security = [{ accessToken: [] }, { apiKey: [] }]
  return { tags: [path], security, operationId, 'x-response-headers': LIMIT_HEADERS }
}

interface Query {
  readonly format?: 'json' | 'csv'
  readonly limit?: number
  readonly cursor?: string
  readonly [parameter: string]: unknown
}
