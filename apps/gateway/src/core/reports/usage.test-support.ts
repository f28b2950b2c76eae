import { v7 } from 'uuid'
import { openUserServices, type UserServices } from '#core/accounts/auth/users.test-support.ts'
import { hashKey } from '#core/accounts/keys/key-format.ts'
import { systemRuntime } from '#core/base/runtime.ts'
import type { Admission } from '#core/ledger/admission-row.ts'
import { createLedger, type Ledger } from '#core/ledger/ledger.ts'
import type { Principal } from '#core/requests/principal.ts'

/** An API key and the principal that it authenticates. */
export interface TestKey {
  readonly id: string
  readonly ownerId: string
  readonly hash: string
  readonly caller: Principal
}

/** Users and keys on an embedded database, with what is needed to record calls of their keys. */
export interface UsageServices extends UserServices {
  /** The ledger of another process on the same database. */
  processOf(instanceId?: string): Ledger
  ownKey(owner: Principal): Promise<TestKey>
  /** Inserts the row of an open call that was admitted at that time, without counting it. */
  admitAt(key: TestKey, instanceId: string, admittedAt: Date, more?: Partial<Admission>): Promise<string>
}

export async function openUsageServices(): Promise<UsageServices> {
  const services = await openUserServices()
  const { sql } = services.database
  return {
    ...services,
    processOf: (instanceId = v7()) =>
      createLedger({
        sql,
        runtime: systemRuntime,
        instanceId,
        observer: { batch: () => undefined, settleFailed: () => undefined },
      }),
    async ownKey(owner) {
      const { id, fullKey, caller } = await services.keyOf(owner, { permissions: ['chat', 'upload'] })
      return { id, ownerId: owner.userId, hash: hashKey(fullKey), caller }
    },
    async admitAt(key, instanceId, admittedAt, more = {}) {
      const { callId, kind, face, agent, app, endUser } = admissionOf(key, more)
      await sql.query(
        `INSERT INTO calls (id, request_id, key_id, owner_id, end_user, kind, face, agent, app, instance, admitted_at)
         VALUES ($1, '', $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
        [callId, key.id, key.ownerId, endUser, kind, face, agent, app, instanceId, admittedAt.toISOString()],
      )
      return callId
    },
  }
}

export function admissionOf(
  { id, hash }: Pick<TestKey, 'id' | 'hash'>,
  more: Partial<Admission> = {},
): Admission {
  const named = { callId: v7(), requestId: 'request-1', keyId: id, keyHash: hash, address: '' } as const
  const placed = { agent: 'dify', app: '', endUser: '', conversation: '' }
  return { ...named, kind: 'chat', face: 'rest', ...placed, ...more }
}
