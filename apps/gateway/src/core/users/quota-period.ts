import type { QuotaPeriod } from '#generated/prisma/client.ts'

/** When the UTC day or month of a moment began; without a period, everything counts. */
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

/** When counting starts anew; null where it never does. */
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
