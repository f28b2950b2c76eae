import { useFormats } from '../format/use-formats.ts'
import type { ChartData } from './chart-data.ts'

/** How the values of a chart are written, and how on its axis, where there is little room. Lines are times, and bars counts. */
export function useValueFormat(kind: ChartData['kind']) {
  const { about, duration, count, compact } = useFormats()
  return kind === 'lines' ? { format: about, formatAxis: duration } : { format: count, formatAxis: compact }
}
