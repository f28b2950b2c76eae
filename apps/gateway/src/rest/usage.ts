import { Readable } from 'node:stream'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import type { LimitVerdict } from '#core/limits/limits.ts'
import { readPage } from '#core/pagination.ts'
import type { Services } from '#core/services/services.ts'
import { OUTCOMES } from '#core/usage/ledger.ts'
import { GRANULARITIES } from '#core/usage/report-range.ts'
import { GROUPS } from '#core/usage/report-rows.ts'
import { ANY_PROBLEMS, anyCredential, callerOf } from '#http/credentials.ts'
import { sendCsv } from '#http/csv.ts'
import { limitHeaders } from '#http/limit-headers.ts'
import { envelope, oneOf, PageQuery, page, pageRecord, problems, ref, success } from '#http/schemas.ts'
import { CALL_FIELDS, callRecord, callRows, reportHeader, reportPieces, reportRows } from './usage-records.ts'
import { CallSchema, UsageReportSchema } from './usage-schemas.ts'

export function usageRoutes(
  app: FastifyInstance,
  services: Pick<Services, 'usage' | 'authentication'>,
): void {
  const { usage } = services
  const routes = app.withTypeProvider<TypeBoxTypeProvider>()
  const onRequest = anyCredential(services)
  app.addSchema(UsageReportSchema)
  app.addSchema(CallSchema)

  routes.get('/api/v1/usage', { schema: usageSchema, onRequest }, async (request, reply) => {
    const { group_by, key_id, user_id, format, ...input } = request.query
    const report = await usage.report(
      callerOf(request),
      { ...input, groupBy: group_by ? group_by.split(',') : [], keyId: key_id, userId: user_id },
      (verdict) => limitHeaders(reply, verdict),
    )
    if (format === 'csv') return sendCsv(reply, 'usage', reportHeader(report), reportRows(report))
    reply.type('application/json; charset=utf-8')
    return reply.send(Readable.from(reportPieces(report)))
  })

  routes.get('/api/v1/calls', { schema: callsSchema, onRequest }, async (request, reply) => {
    const { key_id, user_id, request_id, format, limit, cursor, ...input } = request.query
    const caller = callerOf(request)
    const filter = { ...input, keyId: key_id, userId: user_id, requestId: request_id }
    const onLimit = (verdict: LimitVerdict) => limitHeaders(reply, verdict)
    if (format === 'csv') {
      return sendCsv(reply, 'calls', CALL_FIELDS, callRows(await usage.exportCalls(caller, filter, onLimit)))
    }
    const page = await readPage({ limit, cursor }, (query) => usage.calls(caller, filter, query, onLimit))
    return success(pageRecord(page, callRecord))
  })
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
      granularity: Type.Optional(oneOf(GRANULARITIES)),
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
