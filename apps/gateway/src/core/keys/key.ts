import { PERMISSIONS, type Permission } from '#core/principal.ts'
import { periodStart } from '#core/users/quota-period.ts'
import type { ApiKey } from '#generated/prisma/client.ts'

/*
 * What callers see of an API key that is not a column: functions of the row, of which each names the columns that it reads.
 * REST's records, the command line and GraphQL's fields are all made of them.
 */

/** The same condition as `activeWhere` in keys.ts, which puts it in SQL. */
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

/** Null means every agent, for which the column holds an empty list. */
export function allowedAgentsOf({ allowedAgents }: Pick<ApiKey, 'allowedAgents'>): string[] | null {
  return allowedAgents.length > 0 ? allowedAgents : null
}

export function totalCalls({
  totalCalls: counted,
  totalBaseline,
}: Pick<ApiKey, 'totalCalls' | 'totalBaseline'>): number {
  return Number(counted - totalBaseline)
}

type DayColumns = Pick<ApiKey, 'dayCalls' | 'dayStart' | 'dayBaseline' | 'dayResetStart'>

/** Calls since midnight UTC: an admission rolls the counter over, so until the next one it may still hold an earlier day. */
export function callsToday(key: DayColumns, now: Date): number {
  const { dayCalls, dayStart, dayBaseline, dayResetStart } = key
  if (dayStart < periodStart('day', now)) return 0
  // A baseline counts only within the period in which it was set.
  return Number(dayResetStart.getTime() === dayStart.getTime() ? dayCalls - dayBaseline : dayCalls)
}

type MonthColumns = Pick<ApiKey, 'monthCalls' | 'monthStart' | 'monthBaseline' | 'monthResetStart'>

/** Calls since the first of the month, UTC. */
export function callsThisMonth(key: MonthColumns, now: Date): number {
  const { monthCalls, monthStart, monthBaseline, monthResetStart } = key
  if (monthStart < periodStart('month', now)) return 0
  return Number(monthResetStart.getTime() === monthStart.getTime() ? monthCalls - monthBaseline : monthCalls)
}
