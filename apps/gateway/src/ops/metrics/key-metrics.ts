import type { ExpiringKeys } from '#core/accounts/keys/expiring-keys.ts'
import type { Instruments } from './instruments.ts'

/** The process that does the maintenance counts anew each hour; what another one counted longer ago is no longer true. */
const VALID_MS = 2 * 3_600_000

export function createKeyMetrics({ gauges }: Instruments) {
  let counted: readonly ExpiringKeys[] = []
  let countedMs = 0
  gauges(
    'trunkline_api_keys_expiring',
    'Active API keys that expire within 30 days, 7 days and 1 day, counted up to 10,000; absent where this process has not counted them in the last two hours.',
    ['within'],
    () =>
      performance.now() - countedMs < VALID_MS
        ? counted.map(({ days, count }) => [{ within: `${days}d` }, count] as const)
        : [],
    'max',
  )
  return {
    /** Shows how many keys expire soon. */
    keysExpiring(keys: readonly ExpiringKeys[]): void {
      counted = keys
      countedMs = performance.now()
    },
  }
}
