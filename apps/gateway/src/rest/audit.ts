import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import Type, { type Static } from 'typebox'
import { AUDIT_RESULTS, parseAuditQuery } from '#core/reports/audit-log/audit-query.ts'
import { type AuditEvent, numberOfCursor } from '#core/reports/audit-log/audit-rows.ts'
import { allOf, ifGiven } from '#core/requests/input/all-of.ts'
import { readOrderedPage } from '#core/requests/input/pagination.ts'
import type { Services } from '#core/services/services.ts'
import { AUDIT_DESCRIPTIONS } from '#http/descriptions/audit-descriptions.ts'
import { callerOf, MANAGER_PROBLEMS, managerOnly } from '#http/guards/credentials.ts'
import { abortedWith } from '#http/request/aborted-with.ts'
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
import { AuditEventSchema, auditRecord, storedAuditRecord } from '#records/audit-record.ts'
import { csvOr, Format, range, requireFormat } from './csv-lists.ts'

export function auditRoutes(
  app: FastifyInstance,
  services: Pick<Services, 'audit' | 'authentication'>,
): void {
  const { audit } = services
  const routes = app.withTypeProvider<TypeBoxTypeProvider>()
  const onRequest = managerOnly(services)
  app.addSchema(AuditEventSchema)

  const listing = { schema: listSchema, onRequest, config: { judge: judgeList } }
  routes.get('/api/v1/audit', listing, async (request, reply) => {
    requireFormat(request)
    const { format, limit, cursor } = request.query
    const caller = callerOf(request)
    const input = auditInput(request.query)
    const onLimit = showLimit(reply)
    const signal = abortedWith(reply)
    if (format === 'csv') {
      const events = await audit.export(caller, input, onLimit, signal)
      await services.audit.exported(caller, 'audit', request.query)
      return sendCsv(reply, 'audit', Object.keys(AuditEventSchema.properties), eventRows(events))
    }
    const found = await readOrderedPage({ limit, cursor }, (query) =>
      audit.list(caller, input, query, onLimit, signal),
    )
    return success(pageRecord(found, auditRecord))
  })
}

async function* eventRows(events: AsyncIterable<AuditEvent>): AsyncGenerator<Cell[]> {
  for await (const event of events) yield Object.values(storedAuditRecord(event))
}

type Parameters = Static<typeof listSchema.querystring>

function auditInput({ user_id, key_id, target_id, request_id, ...query }: Parameters) {
  const { format: _format, limit: _limit, cursor: _cursor, ...filter } = query
  return { ...filter, userId: user_id, keyId: key_id, targetId: target_id, requestId: request_id }
}

function judgeList(request: FastifyRequest, { query }: SoundRequest): void {
  const parameters = (query ?? {}) as Parameters
  allOf({
    format: () => requireFormat(request),
    cursor: () => ifGiven(parameters.cursor, numberOfCursor),
    filter: () => parseAuditQuery(auditInput(parameters)),
  })
}

const listSchema = {
  tags: ['audit'],
  security: [{ accessToken: [] }, { apiKey: [] }],
  operationId: 'listAuditEvents',
  'x-response-headers': LIMIT_HEADERS,
  summary: 'List the events of the audit log',
  description:
    'Returns the events of the audit log, newest first. Only administrators may read it. The CSV format returns all events at once, without pages, and has `before` and `after` as the texts that were hashed.',
  querystring: listQuery({
    ...PageQuery,
    user_id: Type.Optional(Type.String({ maxLength: 64, description: AUDIT_DESCRIPTIONS.ofUser })),
    key_id: Type.Optional(Type.String({ maxLength: 64, description: AUDIT_DESCRIPTIONS.ofKey })),
    operation: Type.Optional(Type.String({ maxLength: 256, description: AUDIT_DESCRIPTIONS.ofOperation })),
    result: Type.Optional(oneOf(AUDIT_RESULTS, AUDIT_DESCRIPTIONS.withResult)),
    target: Type.Optional(Type.String({ maxLength: 256, description: AUDIT_DESCRIPTIONS.toTarget })),
    target_id: Type.Optional(Type.String({ maxLength: 256, description: AUDIT_DESCRIPTIONS.toTargetId })),
    request_id: Type.Optional(Type.String({ maxLength: 128, description: AUDIT_DESCRIPTIONS.ofRequest })),
    ...range(AUDIT_DESCRIPTIONS),
    ...Format,
  }),
  response: {
    200: csvOr(envelope(page(ref(AuditEventSchema)))),
    ...problems('invalid_request', ...MANAGER_PROBLEMS, 'role_denied'),
  },
}
