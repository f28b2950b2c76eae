import Type, { type Static } from 'typebox'
import { ACTORS } from '#core/audit/actor.ts'
import { AUDIT_RESULTS } from '#core/reports/audit-log/audit-query.ts'
import { type AuditEvent, stateOf } from '#core/reports/audit-log/audit-rows.ts'
import { AUDIT_DESCRIPTIONS } from '#http/descriptions/audit-descriptions.ts'
import { nullable, openOneOf, timestamp, Uuid } from '#http/response/schemas.ts'

const State = Type.Record(Type.String(), Type.Unknown())

export const AuditEventSchema = Type.Object(
  {
    n: Type.Integer({ minimum: 1, description: AUDIT_DESCRIPTIONS.n }),
    format: Type.Integer({ description: AUDIT_DESCRIPTIONS.format }),
    at: timestamp(AUDIT_DESCRIPTIONS.at),
    operation: Type.String({ description: AUDIT_DESCRIPTIONS.operation }),
    result: openOneOf(AUDIT_RESULTS, AUDIT_DESCRIPTIONS.result),
    actor: openOneOf(ACTORS, AUDIT_DESCRIPTIONS.actor),
    user_id: nullable(Uuid, AUDIT_DESCRIPTIONS.userId),
    key_id: nullable(Uuid, AUDIT_DESCRIPTIONS.keyId),
    token_id: nullable(Uuid, AUDIT_DESCRIPTIONS.tokenId),
    name: nullable(Type.String(), AUDIT_DESCRIPTIONS.name),
    address: nullable(Type.String(), AUDIT_DESCRIPTIONS.address),
    request_id: nullable(Type.String(), AUDIT_DESCRIPTIONS.requestId),
    target: nullable(Type.String(), AUDIT_DESCRIPTIONS.target),
    target_id: nullable(Type.String(), AUDIT_DESCRIPTIONS.targetId),
    before: nullable(State, AUDIT_DESCRIPTIONS.before),
    after: nullable(State, AUDIT_DESCRIPTIONS.after),
    reason: nullable(Type.String(), AUDIT_DESCRIPTIONS.reason),
    count: Type.Integer({ minimum: 1, description: AUDIT_DESCRIPTIONS.count }),
    hash: Type.String({ description: AUDIT_DESCRIPTIONS.hash }),
  },
  {
    $id: 'AuditEvent',
    description: AUDIT_DESCRIPTIONS.resource,
    examples: [
      {
        n: 41,
        format: 1,
        at: '2026-11-20T08:30:00.123456Z',
        operation: 'users.update',
        result: 'done',
        actor: 'token',
        user_id: '019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10',
        key_id: null,
        token_id: '019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a12',
        name: null,
        address: '192.0.2.7',
        request_id: 'ticket-1',
        target: 'user',
        target_id: '019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a11',
        before: { role: 'user' },
        after: { role: 'premium' },
        reason: null,
        count: 1,
        hash: 'd2a84f4b8b650937ec8f73cd8be2c74add5a911ba64df27458ed8229da804a26',
      },
    ],
  },
)

/** An event as REST and the command line write it. */
export function auditRecord(event: AuditEvent): Static<typeof AuditEventSchema> {
  return {
    ...storedAuditRecord(event),
    before: stateOf(event.before),
    after: stateOf(event.after),
  }
}

/** An event with its states as the texts that were hashed, for files. */
export function storedAuditRecord(event: AuditEvent) {
  return {
    n: event.n,
    format: event.format,
    at: event.at,
    operation: event.operation,
    result: event.result,
    actor: event.actor,
    user_id: event.userId,
    key_id: event.keyId,
    token_id: event.tokenId,
    name: event.name,
    address: event.address,
    request_id: event.requestId,
    target: event.target,
    target_id: event.targetId,
    before: event.before,
    after: event.after,
    reason: event.reason,
    count: event.count,
    hash: event.hash,
  }
}
