import { periodStart } from '#core/ledger/quota-period.ts'
import { PERMISSIONS, type Permission } from '#core/requests/principal.ts'
import type { ApiKey } from '#generated/prisma/client.ts'

/*
 * The derived fields of an API key, as functions of its row. Each declares the columns that it reads, so that a face can
 * select only those. REST records, the output of the command line and GraphQL fields are all built from them.
 */

/** Whether the key can be used. `stateInSql` in key-filter.ts is the same condition for the database. */
export function isActive(
  { revokedAt, expiresAt }: Pick<ApiKey, 'revokedAt' | 'expiresAt'>,
  now: Date,
): boolean {
  return revokedAt === null && expiresAt > now
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
