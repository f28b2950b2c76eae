import { Link } from '@tanstack/react-router'
import { useTranslations } from 'use-intl'
import { ChangeText } from '../report/change-text.tsx'
import { numeric, Table, time } from '../ui/table.tsx'
import { bucketsBefore, type ChartData, type ChartSeries, recordsIn, recordsOf } from './chart-data.ts'
import { Way } from './count.tsx'
import { useBucketFormat } from './use-bucket-format.ts'
import { useValueFormat } from './use-value-format.ts'

interface SeriesTableProps {
  /** What the chart is called. */
  readonly label: string
  readonly data: ChartData
}

/** The numbers of a chart, the latest first, beside those of the period before. Each leads to its records. */
export function SeriesTable({ label, data }: SeriesTableProps) {
  const t = useTranslations('charts')
  const { starts, series, kind, granularity, zone, before } = data
  const buckets = useBucketFormat(granularity, zone)
  const { format } = useValueFormat(kind)
  const hasSum = kind === 'bars' && series.length > 1
  const at = ({ values }: ChartSeries, index: number) => values[index] ?? null
  const sumAt = (index: number) => series.reduce((sum, one) => sum + (at(one, index) ?? 0), 0)
  const text = (value: number | null) => (value === null ? '–' : format(value))
  return (
    <Table label={t('tableOf', { label })}>
      <thead>
        <tr>
          <th scope="col">{t(`buckets.${granularity}`)}</th>
          {series.map(({ name }) => (
            <Head key={name}>{name}</Head>
          ))}
          {hasSum && <Head>{t('sum')}</Head>}
          {before !== undefined && <th scope="col">{t('comparedWith')}</th>}
          {before?.series.map(({ name }) => [
            <Head key={name}>{name}</Head>,
            <Head key={`${name} change`}>{t('change')}</Head>,
          ])}
        </tr>
      </thead>
      <tbody>
        {[...starts.entries()].toReversed().map(([index, start]) => {
          const startBefore = before?.starts[index]
          return (
            <tr key={start}>
              <th scope="row" className={time}>
                <Link {...recordsIn(data, index)}>{buckets.long(start)}</Link>
              </th>
              {series.map((one) => (
                <td key={one.name} className={numeric}>
                  <Way link={recordsOf(data, one, index)}>{text(at(one, index))}</Way>
                </td>
              ))}
              {hasSum && <td className={numeric}>{format(sumAt(index))}</td>}
              {before !== undefined && (
                <td className={time}>
                  {startBefore === undefined ? (
                    '–'
                  ) : (
                    <Link {...recordsIn(bucketsBefore(data), index)}>{buckets.long(startBefore)}</Link>
                  )}
                </td>
              )}
              {before?.series.map((one, place) => [
                <td key={one.name} className={numeric}>
                  <Way link={recordsOf(bucketsBefore(data), one, index)}>{text(at(one, index))}</Way>
                </td>,
                <td key={`${one.name} change`} className={numeric}>
                  <ChangeText
                    now={kind === 'bars' ? sumAt(index) : series[place]?.values[index]}
                    before={one.values[index]}
                    kind={kind === 'bars' ? 'count' : 'percentile'}
                  />
                </td>,
              ])}
            </tr>
          )
        })}
      </tbody>
    </Table>
  )
}

function Head({ children }: { readonly children: string }) {
  return (
    <th scope="col" className={numeric}>
      {children}
    </th>
  )
}
