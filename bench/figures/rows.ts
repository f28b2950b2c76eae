import type { Pair } from './pair.ts'
import { median } from './quantile.ts'

/** The last columns of a table of goals, which fail no scenario; `docs/costs.md` records what each release reaches. */
export const COMPARED = 'compared (least–most) | aim | reached'

export function cpuRow(name: string, pairs: readonly Pair<number>[], ratioMax?: number): string[] {
  const ratios = pairs.map(({ base, tested }) => tested / base)
  const ratio = median(ratios)
  return [
    name,
    `${median(pairs.map(({ base }) => base)).toFixed(1)} µs`,
    `${median(pairs.map(({ tested }) => tested)).toFixed(1)} µs`,
    `× ${ratio.toFixed(2)} (${range(ratios)})`,
    ...goal(ratio, ratioMax, `× ${ratioMax}`),
  ]
}

export function goal(value: number, most: number | undefined, limit: string): [string, string] {
  return most === undefined ? ['', ''] : [`≤ ${limit}`, value <= most ? 'yes' : 'no']
}

export function range(values: readonly number[]): string {
  return `${Math.min(...values).toFixed(2)}–${Math.max(...values).toFixed(2)}`
}
