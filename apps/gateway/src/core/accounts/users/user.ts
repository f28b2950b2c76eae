import { knownPeriod, periodEnd, periodStart, type QuotaPeriod } from '#core/ledger/quota-period.ts'
import type { User } from '#generated/prisma/client.ts'

/*
 * The derived fields of a user, as functions of its row. Each declares the columns that it reads.
 */

type QuotaColumns = Pick<User, 'apiCallsCount' | 'maxApiCalls' | 'quotaPeriod' | 'quotaStart'>

/**
 * Calls in the current quota period. The counter is reset by the first admission of a period
 * (core/ledger/admission-sql.ts), so it may still hold the count of an earlier one.
 */
export function apiCallsCount(
  user: Pick<User, 'apiCallsCount' | 'quotaPeriod' | 'quotaStart'>,
  now: Date,
): number {
  return user.quotaStart >= periodStart(knownPeriod(user.quotaPeriod), now) ? Number(user.apiCallsCount) : 0
}

export function maxApiCalls(user: Pick<User, 'maxApiCalls'>): number {
  return Number(user.maxApiCalls)
}

export interface Quota {
  readonly maxApiCalls: number
  readonly apiCallsCount: number
  readonly remaining: number
  readonly quotaPeriod: QuotaPeriod
  /** Null if the quota has no period. */
  readonly resetsAt: Date | null
}

/** Returns the quota of a user and what is left of it. All keys of the user share it. */
export function quotaOf(user: QuotaColumns, now: Date): Quota {
  const [most, counted] = [maxApiCalls(user), apiCallsCount(user, now)]
  const quotaPeriod = knownPeriod(user.quotaPeriod)
  return {
    maxApiCalls: most,
    apiCallsCount: counted,
    remaining: Math.max(0, most - counted),
    quotaPeriod,
    resetsAt: periodEnd(quotaPeriod, now),
  }
}
