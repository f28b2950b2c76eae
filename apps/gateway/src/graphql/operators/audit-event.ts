import { requireEventNumber } from '#core/reports/audit-log/audit-query.ts'
import { AUDIT_EVENT, AUDIT_EVENTS } from '#resources/audit-event.ts'
import { builder } from '../builder.ts'
import { listField } from '../resources/list-field.ts'
import { resourceType } from '../resources/resource-type.ts'

const NUMBER = AUDIT_EVENT.fields.n.description
const FOR_ADMINS =
  'Takes an access token of an administrator, or an API key of one with the permission `ADMIN`.'

const AuditEventType = resourceType(AUDIT_EVENT, (t) => ({
  id: t.id({ description: 'The number of the event, as an id.', resolve: ({ n }) => String(n) }),
}))

listField(AUDIT_EVENTS, {
  name: 'auditEvents',
  description: `Lists the events of the audit log, newest first; pages go forwards only. ${FOR_ADMINS}`,
  filter: ['AuditFilter', 'Which events of the audit log to list.'],
  page: 'the audit log',
  item: 'An event of the audit log',
  listOf: ({ services }) => services.audit,
})

builder.queryField('auditEvent', (t) =>
  t.field({
    type: AuditEventType,
    nullable: true,
    description: `The event of the audit log with this number; null if it was cut off, or there is none yet. ${FOR_ADMINS}`,
    args: { n: t.arg({ type: 'SafeInt', required: true, description: NUMBER }) },
    resolve: (_root, { n }, { loaders }) => {
      requireEventNumber(n)
      return loaders.auditEvent(n)
    },
  }),
)
