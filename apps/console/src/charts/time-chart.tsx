import { useState } from 'react'
import type { ChartData } from './chart-data.ts'
import { Legend } from './legend.tsx'
import type { PlotProps } from './plot.tsx'
import styles from './time-chart.module.css'
import { Tooltip } from './tooltip.tsx'
import { useBucketFormat } from './use-bucket-format.ts'
import { usePlot } from './use-plot.ts'

interface TimeChartProps extends Pick<PlotProps, 'onDrawn'> {
  /** What the chart shows, for those who do not see it; the numbers themselves belong in a table beside it. */
  readonly label: string
  /** Must be the same object as long as it says the same: the chart is drawn anew for another one. */
  readonly data: ChartData
  /** How values are written. */
  format(value: number): string
  /** The same in little room, by default as elsewhere. */
  formatAxis?(value: number): string
  /** What was dragged over: from the start of its first bucket to the end of its last one. */
  onZoom?(from: string, to: string): void
  /** The end of the last bucket. */
  readonly end: string
}

type PointedAt = NonNullable<Parameters<PlotProps['onPoint']>[0]> & { readonly data: ChartData }

const HEIGHT = 240

/** A chart over time: stacked bars or lines, a legend, and the values under the pointer. */
export function TimeChart({
  label,
  data,
  end,
  format,
  formatAxis = format,
  onZoom,
  onDrawn,
}: TimeChartProps) {
  const buckets = useBucketFormat(data.granularity, data.zone)
  const Plot = usePlot()
  // With its data, because a report with fewer buckets may arrive while the pointer rests on the chart.
  const [point, setPoint] = useState<PointedAt>()
  const { starts } = data
  return (
    <div className={styles.chart}>
      <Legend series={data.series} />
      <div className={styles.frame} role="img" aria-label={label}>
        {Plot !== undefined && (
          <Plot
            {...{ data, buckets, formatAxis, onDrawn }}
            height={HEIGHT}
            onPoint={(at) => setPoint(at && { ...at, data })}
            onSelect={onZoom && ((first, last) => onZoom(starts[first] ?? '', starts[last + 1] ?? end))}
          />
        )}
        {point?.data === data && <Tooltip {...{ data, buckets, format, point }} />}
      </div>
    </div>
  )
}
