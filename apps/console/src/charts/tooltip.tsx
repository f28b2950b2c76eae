import { useTranslations } from 'use-intl'
import { type ChartData, valuesAt } from './chart-data.ts'
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
  const values = valuesAt(data.series, index)
  const shown = values.filter(({ value }) => values.length <= 3 || (value ?? 0) !== 0)
  const sum = values.reduce((total, { value }) => total + (value ?? 0), 0)
  const startBefore = data.before?.starts[index]
  return (
    <div className={styles.tooltip} style={place} aria-hidden="true">
      <strong>{buckets.long(data.starts[index] ?? '')}</strong>
      <dl>
        {shown.map((one) => (
          <Value key={one.name} {...one} format={format} />
        ))}
        {data.kind === 'bars' && data.series.length > 1 && (
          <div className={styles.sum}>
            <dt>{t('sum')}</dt>
            <dd>{format(sum)}</dd>
          </div>
        )}
      </dl>
      {data.before !== undefined && startBefore !== undefined && (
        <>
          <strong>{buckets.long(startBefore)}</strong>
          <dl>
            {valuesAt(data.before.series, index).map((one) => (
              <Value key={one.name} {...one} format={format} />
            ))}
          </dl>
        </>
      )}
    </div>
  )
}

type ValueProps = Pick<ReturnType<typeof valuesAt>[number], 'name' | 'value' | 'colour' | 'isDashed'>

function Value({ name, value, format, ...look }: ValueProps & Pick<TooltipProps, 'format'>) {
  return (
    <div>
      <dt>
        <Swatch {...look} />
        <span>{name}</span>
      </dt>
      <dd>{value === null ? '–' : format(value)}</dd>
    </div>
  )
}
