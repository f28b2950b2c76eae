import { useTranslations } from 'use-intl'
import { numeric, Table } from '../ui/table.tsx'
import type { ChartData } from './chart-data.ts'
import { useBucketFormat } from './use-bucket-format.ts'

interface SeriesTableProps {
  /** What the chart is called. */
  readonly label: string
  readonly data: ChartData
  format(value: number): string
}

/** The numbers of a chart, the latest first. */
export function SeriesTable({ label, data, format }: SeriesTableProps) {
  const t = useTranslations('charts')
  const { starts, series, kind, granularity, zone } = data
  const buckets = useBucketFormat(granularity, zone)
  const hasSum = kind === 'bars' && series.length > 1
  return (
    <Table label={t('tableOf', { label })}>
      <thead>
        <tr>
          <th scope="col">{t(`buckets.${granularity}`)}</th>
          {series.map(({ name }) => (
            <th key={name} scope="col" className={numeric}>
              {name}
            </th>
          ))}
          {hasSum && (
            <th scope="col" className={numeric}>
              {t('sum')}
            </th>
          )}
        </tr>
      </thead>
      <tbody>
        {[...starts.entries()].toReversed().map(([index, start]) => (
          <tr key={start}>
            <th scope="row">{buckets.long(start)}</th>
            {series.map(({ name, values }) => {
              const value = values[index]
              return (
                <td key={name} className={numeric}>
                  {value === null || value === undefined ? '–' : format(value)}
                </td>
              )
            })}
            {hasSum && (
              <td className={numeric}>
                {format(series.reduce((sum, { values }) => sum + (values[index] ?? 0), 0))}
              </td>
            )}
          </tr>
        ))}
      </tbody>
    </Table>
  )
}
