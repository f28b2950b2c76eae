export const QUOTA_PERIODS = ['none', 'day', 'month'] as const
export type QuotaPeriod = (typeof QUOTA_PERIODS)[number]

/**
 * A newer version of the gateway on the same database may have written a word that this one does not know. The admission counts
 * all calls ever for whatever is not `day` or `month`, and so it is shown.
 */
export function knownPeriod(word: string): QuotaPeriod {
  return QUOTA_PERIODS.find((period) => period === word) ?? 'none'
}

/**
 * Returns the start of the UTC day or month; 1970 without a period, where all calls count. In SQL, `date_trunc` with the zone
 * UTC is the same.
 */
export function periodStart(period: QuotaPeriod, at: Date): Date {
  switch (period) {
    case 'none':
      return new Date(0)
    case 'day':
      return new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate()))
    case 'month':
      return new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth()))
  }
}

/** Returns when the next period starts and the count with it; null without a period. */
export function periodEnd(period: QuotaPeriod, at: Date): Date | null {
  switch (period) {
    case 'none':
      return null
    case 'day':
      return new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate() + 1))
    case 'month':
      return new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1))
  }
}
