import { oneOf, type TimeSearch, timesIn } from './address.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const LENGTHS_MS = { '1h': HOUR_MS, '24h': DAY_MS, '7d': 7 * DAY_MS, '30d': 30 * DAY_MS, '31d': 31 * DAY_MS }

/** A length of time that ends now, or all times. */
export type Preset = keyof typeof LENGTHS_MS | 'all'

export interface RangeSearch<Known extends Preset = Preset> extends TimeSearch {
  readonly range?: Known | undefined
}

/** The times that a list covers, as its request has them. */
export interface Times {
  readonly from?: string
  readonly to?: string
}

/** The ranges of a list, as its address says them. */
export interface ListRange<Search> {
  readonly presets: readonly Preset[]
  /** What is pressed; undefined where the list covers another time than any of these. */
  shown(search: Search, now: Date): Preset | 'custom' | undefined
  times(search: Search, now: Date): Times
}

/** @param standard - the range of an address that names none */
export function rangeOf<const Known extends Preset>(presets: readonly Known[], standard: NoInfer<Known>) {
  const shown = ({ range, from, to }: RangeSearch<Known>) =>
    from === undefined && to === undefined ? (range ?? standard) : 'custom'
  return {
    presets,
    shown,
    in: (search: Record<string, unknown>): RangeSearch<Known> => ({
      ...oneOf(search, 'range', presets),
      ...timesIn(search),
    }),
    times(search: RangeSearch<Known>, now: Date): Times {
      const { from, to } = search
      const preset: Preset | 'custom' = shown(search)
      if (preset === 'custom') return { ...(from && { from }), ...(to && { to }) }
      return preset === 'all' ? {} : { from: before(now, LENGTHS_MS[preset]) }
    },
  }
}

export function before(moment: Date, lengthMs: number): string {
  return new Date(moment.getTime() - lengthMs).toISOString()
}
