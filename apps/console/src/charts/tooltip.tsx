import { useTranslations } from 'use-intl'
import type { ChartData } from './chart-data.ts'
import { Swatch } from './legend.tsx'
import styles from './time-chart.module.css'
import type { BucketFormat } from './use-bucket-format.ts'

interface TooltipProps {
  readonly data: ChartData
  readonly buckets: BucketFormat
  readonly point: { readonly index: number; readonly left: number; readonly width: number }
  format(value: number): string
}

/** The values of the bucket under the pointer. A table has the same for those who do not point. */
export function Tooltip({ data, buckets, point, format }: TooltipProps) {
  const t = useTranslations('charts')
  const { index, left, width } = point
  // On the side of the pointer with more room.
  const place = left > width / 2 ? { right: width - left + 12 } : { left: left + 12 }
  const values = data.series.map(({ values }) => values[index] ?? null)
  const shown = data.series.filter((_, place) => data.series.length <= 3 || (values[place] ?? 0) !== 0)
  const sum = values.reduce<number>((total, value) => total + (value ?? 0), 0)
  return (
    <div className={styles.tooltip} style={place} aria-hidden="true">
      <strong>{buckets.long(data.starts[index] ?? '')}</strong>
      <dl>
        {shown.map((one) => {
          const value = one.values[index]
          return (
            <div key={one.name}>
              <dt>
                <Swatch {...one} />
                <span>{one.name}</span>
              </dt>
              <dd>{value === null || value === undefined ? '–' : format(value)}</dd>
            </div>
          )
        })}
        {data.kind === 'bars' && data.series.length > 1 && (
          <div className={styles.sum}>
            <dt>{t('sum')}</dt>
            <dd>{format(sum)}</dd>
          </div>
        )}
      </dl>
    </div>
  )
}
