import type { AuditEventQuery } from '../../generated/graphql.ts'

/** An event with everything that its page shows. */
export type AuditDetails = NonNullable<AuditEventQuery['auditEvent']>
