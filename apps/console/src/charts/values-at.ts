import type { ChartData, ChartSeries } from './chart-data.ts'

/** The values of a bucket: of each series, and of the period before. */
export function valuesAt(
  { series, before }: Pick<ChartData, 'series' | 'before'>,
  index: number,
): (Pick<ChartSeries, 'name' | 'colour' | 'isDashed'> & { readonly value: number | null })[] {
  const all = [...series, ...(before?.series ?? [])]
  return all.map((one) => ({ ...one, value: one.values[index] ?? null }))
}
