import type { Permission } from '#core/principal.ts'
import { periodStart } from '#core/users/quota-period.ts'
import type { ApiKey } from '#generated/prisma/client.ts'

/** An API key as callers see it. */
export interface KeyRecord {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly keyPrefix: string
  readonly createdAt: Date
  readonly expiresAt: Date
  readonly revokedAt: Date | null
  readonly permissions: readonly Permission[]
  readonly isActive: boolean
  readonly createdBy: string
  readonly ownerId: string
  /** Null allows every agent. */
  readonly allowedAgents: readonly string[] | null
  /** The key's own limits; null where the installation's hold. */
  readonly limits: { readonly chatPerMinute: number | null; readonly uploadPerMinute: number | null }
  readonly usage: {
    readonly totalCalls: number
    readonly callsToday: number
    readonly callsThisMonth: number
    readonly lastUsedAt: Date | null
  }
}

export function toKeyRecord(key: ApiKey, now: Date): KeyRecord {
  const { id, name, description, createdAt, expiresAt, revokedAt, ownerId } = key
  return {
    id,
    name,
    description,
    keyPrefix: key.prefix,
    createdAt,
    expiresAt,
    revokedAt,
    permissions: key.permissions as Permission[],
    isActive: revokedAt === null && expiresAt > now,
    createdBy: key.createdById,
    ownerId,
    allowedAgents: key.allowedAgents.length > 0 ? key.allowedAgents : null,
    limits: { chatPerMinute: key.chatPerMinute, uploadPerMinute: key.uploadPerMinute },
    usage: {
      totalCalls: Number(key.totalCalls - key.totalBaseline),
      callsToday: key.dayStart >= periodStart('day', now) ? callsOfDay(key) : 0,
      callsThisMonth: key.monthStart >= periodStart('month', now) ? callsOfMonth(key) : 0,
      lastUsedAt: key.lastUsedAt,
    },
  }
}

/** A baseline counts in the period alone in which it was set. */
function callsOfDay({ dayCalls, dayStart, dayBaseline, dayResetStart }: ApiKey): number {
  return Number(dayResetStart.getTime() === dayStart.getTime() ? dayCalls - dayBaseline : dayCalls)
}

function callsOfMonth({ monthCalls, monthStart, monthBaseline, monthResetStart }: ApiKey): number {
  return Number(monthResetStart.getTime() === monthStart.getTime() ? monthCalls - monthBaseline : monthCalls)
}
