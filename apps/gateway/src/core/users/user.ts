import type { QuotaPeriod, User } from '#generated/prisma/client.ts'
import { periodEnd, periodStart } from './quota-period.ts'

/*
 * What callers see of a user that is not a column: functions of the row, of which each names the columns that it reads.
 */

type QuotaColumns = Pick<User, 'apiCallsCount' | 'maxApiCalls' | 'quotaPeriod' | 'quotaStart'>

/** Calls in the current quota period: an admission rolls the counter over, so until then it may hold an earlier period. */
export function apiCallsCount(
  user: Pick<User, 'apiCallsCount' | 'quotaPeriod' | 'quotaStart'>,
  now: Date,
): number {
  return user.quotaStart >= periodStart(user.quotaPeriod, now) ? Number(user.apiCallsCount) : 0
}

export function maxApiCalls(user: Pick<User, 'maxApiCalls'>): number {
  return Number(user.maxApiCalls)
}

export interface Quota {
  readonly maxApiCalls: number
  readonly apiCallsCount: number
  readonly remaining: number
  readonly quotaPeriod: QuotaPeriod
  /** Null where the count never starts again. */
  readonly resetsAt: Date | null
}

/** What a user may still call, which all its keys share. */
export function quotaOf(user: QuotaColumns, now: Date): Quota {
  const [most, counted] = [maxApiCalls(user), apiCallsCount(user, now)]
  return {
    maxApiCalls: most,
    apiCallsCount: counted,
    remaining: Math.max(0, most - counted),
    quotaPeriod: user.quotaPeriod,
    resetsAt: periodEnd(user.quotaPeriod, now),
  }
}
