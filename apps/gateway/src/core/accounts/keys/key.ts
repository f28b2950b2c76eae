import { periodStart } from '#core/ledger/quota-period.ts'
import { PERMISSIONS, type Permission } from '#core/requests/principal.ts'
import type { ApiKey } from '#generated/prisma/client.ts'

/*
 * The derived fields of an API key, as functions of its row. Each declares the columns that it reads, so that a face can
 * select only those. REST records, the output of the command line and GraphQL fields are all built from them.
 */

/** Each state hides those after it: a key that was paused and has expired is expired. */
export const KEY_STATES = ['active', 'paused', 'expired', 'revoked'] as const
export type KeyState = (typeof KEY_STATES)[number]

/** Whether the key can be used, and why not. `stateInSql` in key-filter.ts is the same for the database. */
export function stateOf(
  { revokedAt, expiresAt, pausedAt }: Pick<ApiKey, 'revokedAt' | 'expiresAt' | 'pausedAt'>,
  now: Date,
): KeyState {
  if (revokedAt !== null) return 'revoked'
  if (expiresAt <= now) return 'expired'
  return pausedAt === null ? 'active' : 'paused'
}

/** What a key is called with. */
export interface KeySecret {
  readonly keyPrefix: string
  readonly lastUsedAt: Date | null
  readonly endsAt: Date | null
}

type SecretColumns = Pick<
  ApiKey,
  | 'prefix'
  | 'rotatedAt'
  | 'secretUsedAt'
  | 'lastUsedAt'
  | 'previousPrefix'
  | 'previousEndsAt'
  | 'previousUsedAt'
>

/** The secrets of a key, the present one first, and the one before as long as it can be used. */
export function secretsOf(key: SecretColumns, now: Date): KeySecret[] {
  const { prefix, rotatedAt, secretUsedAt, lastUsedAt, previousPrefix, previousEndsAt, previousUsedAt } = key
  // A key that was never rotated has one secret, whose uses older processes record as those of the key.
  const present = {
    keyPrefix: prefix,
    lastUsedAt: rotatedAt === null ? lastUsedAt : secretUsedAt,
    endsAt: null,
  }
  if (previousPrefix === null || previousEndsAt === null || previousEndsAt <= now) return [present]
  return [present, { keyPrefix: previousPrefix, lastUsedAt: previousUsedAt, endsAt: previousEndsAt }]
}

export function permissionsOf({ permissions }: Pick<ApiKey, 'permissions'>): Permission[] {
  return permissions.filter(isPermission)
}

function isPermission(word: string): word is Permission {
  return PERMISSIONS.some((permission) => permission === word)
}

/** Returns the allowed agents; null means all agents, which the column stores as an empty list. */
export function allowedAgentsOf({ allowedAgents }: Pick<ApiKey, 'allowedAgents'>): string[] | null {
  return allowedAgents.length > 0 ? allowedAgents : null
}

/** Calls since the last reset of the total. */
export function totalCalls({
  totalCalls: counted,
  totalBaseline,
}: Pick<ApiKey, 'totalCalls' | 'totalBaseline'>): number {
  return Number(counted - totalBaseline)
}

type DayColumns = Pick<ApiKey, 'dayCalls' | 'dayStart' | 'dayBaseline' | 'dayResetStart'>

/**
 * Calls since midnight UTC. The counter is reset by the first admission of a day (core/ledger/admission-sql.ts), so it may still
 * hold the count of an earlier day.
 */
export function callsToday(key: DayColumns, now: Date): number {
  const { dayCalls, dayStart, dayBaseline, dayResetStart } = key
  if (dayStart < periodStart('day', now)) return 0
  // A baseline applies only to the period in which it was set.
  return Number(dayResetStart.getTime() === dayStart.getTime() ? dayCalls - dayBaseline : dayCalls)
}

type MonthColumns = Pick<ApiKey, 'monthCalls' | 'monthStart' | 'monthBaseline' | 'monthResetStart'>

/** Calls since the first of the month, UTC; see {@link callsToday}. */
export function callsThisMonth(key: MonthColumns, now: Date): number {
  const { monthCalls, monthStart, monthBaseline, monthResetStart } = key
  if (monthStart < periodStart('month', now)) return 0
  return Number(monthResetStart.getTime() === monthStart.getTime() ? monthCalls - monthBaseline : monthCalls)
}
