import Type, { type Static } from 'typebox'
import { CALL_FACES } from '#core/ledger/call-kinds.ts'
import type { RefusalCount } from '#core/reports/refusals/refusal-counts.ts'
import type { Refusal } from '#core/reports/refusals/refusals.ts'
import { REFUSAL_DESCRIPTIONS } from '#http/descriptions/refusal-descriptions.ts'
import { nullable, openOneOf, timestamp, Uuid, uuid } from '#http/response/schemas.ts'

const EXAMPLE = {
  key_id: '019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a11',
  owner_id: '019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a12',
  agent: 'fastgpt',
  reason: 'rate_limited',
  limit: 'chat',
} as const

export const RefusalSchema = Type.Object(
  {
    id: uuid(REFUSAL_DESCRIPTIONS.id),
    request_id: Type.String({ description: REFUSAL_DESCRIPTIONS.requestId }),
    at: timestamp(REFUSAL_DESCRIPTIONS.at),
    key_id: nullable(Uuid, REFUSAL_DESCRIPTIONS.keyId),
    owner_id: uuid(REFUSAL_DESCRIPTIONS.ownerId),
    face: openOneOf(CALL_FACES, REFUSAL_DESCRIPTIONS.face),
    route: Type.String({ description: REFUSAL_DESCRIPTIONS.route }),
    agent: Type.String({ description: REFUSAL_DESCRIPTIONS.agent }),
    reason: Type.String({ description: REFUSAL_DESCRIPTIONS.reason }),
    status: Type.Integer({ description: REFUSAL_DESCRIPTIONS.status }),
    limit: Type.String({ description: REFUSAL_DESCRIPTIONS.limit }),
    field: nullable(Type.String(), REFUSAL_DESCRIPTIONS.field),
    limit_points: nullable(Type.Integer(), REFUSAL_DESCRIPTIONS.limitPoints),
    limit_window_seconds: nullable(Type.Integer(), REFUSAL_DESCRIPTIONS.limitWindowSeconds),
    limit_of: nullable(openOneOf(['key', 'gateway']), REFUSAL_DESCRIPTIONS.limitOf),
  },
  {
    $id: 'Refusal',
    description: REFUSAL_DESCRIPTIONS.resource,
    examples: [
      {
        id: '019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10',
        request_id: 'ticket-1',
        at: '2026-11-20T08:30:00.000Z',
        face: 'rest',
        route: '/api/v1/chat',
        status: 429,
        limit_points: 60,
        limit_window_seconds: 60,
        limit_of: 'key',
        field: null,
        ...EXAMPLE,
      },
    ],
  },
)

/** A refusal as REST and the command line write it. */
export function refusalRecord(refusal: Refusal): Static<typeof RefusalSchema> {
  return {
    id: refusal.id,
    request_id: refusal.requestId,
    at: refusal.at.toISOString(),
    key_id: refusal.keyId,
    owner_id: refusal.ownerId,
    face: refusal.face,
    route: refusal.route,
    agent: refusal.agent,
    reason: refusal.reason,
    status: refusal.status,
    limit: refusal.limit,
    field: refusal.field,
    limit_points: refusal.limitPoints,
    limit_window_seconds: refusal.limitWindowSeconds,
    limit_of: refusal.limitOf,
  }
}

export const RefusalCountSchema = Type.Object(
  {
    start: timestamp(REFUSAL_DESCRIPTIONS.start),
    key_id: nullable(Uuid, REFUSAL_DESCRIPTIONS.countKeyId),
    owner_id: nullable(Uuid, REFUSAL_DESCRIPTIONS.countOwnerId),
    agent: Type.String({ description: REFUSAL_DESCRIPTIONS.agent }),
    reason: Type.String({ description: REFUSAL_DESCRIPTIONS.reason }),
    limit: Type.String({ description: REFUSAL_DESCRIPTIONS.limit }),
    count: Type.Integer({ minimum: 0, description: REFUSAL_DESCRIPTIONS.countNumber }),
  },
  {
    $id: 'RefusalCount',
    description: REFUSAL_DESCRIPTIONS.count,
    examples: [{ start: '2026-11-20T08:00:00.000Z', ...EXAMPLE, count: 812 }],
  },
)

/** A count of refusals as REST and the command line write it. */
export function refusalCountRecord(counted: RefusalCount): Static<typeof RefusalCountSchema> {
  return {
    start: counted.start.toISOString(),
    key_id: counted.keyId,
    owner_id: counted.ownerId,
    agent: counted.agent,
    reason: counted.reason,
    limit: counted.limit,
    count: counted.count,
  }
}
