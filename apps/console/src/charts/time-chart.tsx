import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslations } from 'use-intl'
import { type ChartData, type RecordsLink, recordsIn, recordsOf } from './chart-data.ts'
import { Legend } from './legend.tsx'
import type { PlotProps } from './plot.tsx'
import styles from './time-chart.module.css'
import { Tooltip } from './tooltip.tsx'
import { useBucketFormat } from './use-bucket-format.ts'
import { usePlot } from './use-plot.ts'
import { valuesAt } from './values-at.ts'

export interface TimeChartProps extends Pick<PlotProps, 'onDrawn'> {
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
}

type PointedAt = NonNullable<Parameters<PlotProps['onPoint']>[0]> & { readonly data: ChartData }

/** What a finger has touched: it sees the values first, and the way on below the chart. */
interface Touched {
  readonly data: ChartData
  readonly link: RecordsLink
  readonly start: string
  readonly name: string | undefined
}

const HEIGHT = 240

/**
 * A chart over time: stacked bars or lines, a legend, and the values under the pointer. A bucket that is clicked leads to its
 * records. The keyboard walks through the buckets with the arrow keys, and Enter leads on.
 */
export function TimeChart({ label, data, format, formatAxis = format, onZoom, onDrawn }: TimeChartProps) {
  const t = useTranslations('charts')
  const navigate = useNavigate()
  const buckets = useBucketFormat(data.granularity, data.zone)
  const Plot = usePlot()
  // With its data, because a report with fewer buckets may arrive while the pointer rests on the chart.
  const [point, setPoint] = useState<PointedAt>()
  const [walked, setWalked] = useState<number>()
  const { starts, end } = data
  const last = starts.length - 1
  const place = Math.min(walked ?? last, last)
  const [touched, setTouched] = useState<Touched>()
  /** A layer that no list has alone leads to all of its bucket. */
  const linkAt = (index: number, series?: ChartData['series'][number]) =>
    (series && recordsOf(data, series, index)) ?? recordsIn(data, index)
  const spoken = valuesAt(data, place).map(
    ({ name, value }) => `${name} ${value === null ? '–' : format(value)}`,
  )
  return (
    <div className={styles.chart}>
      <Legend data={data} />
      <div className={styles.frame}>
        <div className={styles.picture} role="img" aria-label={label}>
          {Plot !== undefined && (
            <Plot
              {...{ data, buckets, formatAxis, onDrawn, walked }}
              height={HEIGHT}
              onPoint={(at) => setPoint(at && { ...at, data })}
              onOpen={(index, series) => void navigate(linkAt(index, series))}
              onTouch={(index, series) =>
                setTouched({
                  data,
                  link: linkAt(index, series),
                  start: starts[index] ?? '',
                  name: series?.name,
                })
              }
              onSelect={onZoom && ((first, last) => onZoom(starts[first] ?? '', starts[last + 1] ?? end))}
            />
          )}
          {point?.data === data && <Tooltip {...{ data, buckets, format, point }} />}
        </div>
        <input
          type="range"
          className={styles.walker}
          aria-label={t('walk', { label })}
          aria-valuetext={`${buckets.long(starts[place] ?? '')}: ${spoken.join(', ')}`}
          min={0}
          max={Math.max(last, 0)}
          value={place}
          onChange={({ target }) => setWalked(Number(target.value))}
          onFocus={() => setWalked(place)}
          onBlur={() => setWalked(undefined)}
          onKeyDown={({ key }) => {
            if (key === 'Enter') void navigate(linkAt(place))
          }}
        />
      </div>
      {touched?.data === data && (
        <p className={styles.touched}>
          <Link {...touched.link}>
            {t('recordsOf', {
              what: [buckets.long(touched.start), touched.name]
                .filter((part) => part !== undefined)
                .join(' · '),
            })}
          </Link>
        </p>
      )}
    </div>
  )
}
