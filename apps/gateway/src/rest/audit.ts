import type { FastifyInstance } from 'fastify'
import { parseAuditQuery } from '#core/reports/audit-log/audit-query.ts'
import { numberOfCursor } from '#core/reports/audit-log/audit-rows.ts'
import type { Services } from '#core/services/services.ts'
import { MANAGER_PROBLEMS, managerOnly } from '#http/guards/credentials.ts'
import { AUDIT_EVENTS, storedAuditRecord } from '#resources/audit-event.ts'
import { listRoute } from './list-route.ts'

export function auditRoutes(
  app: FastifyInstance,
  services: Pick<Services, 'audit' | 'authentication'>,
): void {
  listRoute(app, services, AUDIT_EVENTS, {
    list: services.audit,
    onRequest: managerOnly(services),
    reasons: ['invalid_request', ...MANAGER_PROBLEMS, 'role_denied'],
    checkCursor: numberOfCursor,
    check: parseAuditQuery,
    cells: storedAuditRecord,
  })
}
