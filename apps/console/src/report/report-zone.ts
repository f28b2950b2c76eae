import { isReportable } from './zone.ts'

interface ReportZone {
  readonly zone: string
  /** The zone of the browser, where the gateway cannot report in it. */
  readonly replaced?: string
}

/** The zone of the browser, or UTC where its offset is not a whole number of hours. */
export function reportZone(now = new Date()): ReportZone {
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone
  return isReportable(own, now) ? { zone: own } : { zone: 'UTC', replaced: own }
}
