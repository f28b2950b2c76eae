import { useMemo } from 'react'
import { useTranslations } from 'use-intl'
import type { RecordsLink } from '../../charts/chart-data.ts'
import { PercentileChoice } from '../../charts/percentile-choice.tsx'
import { SeriesTable } from '../../charts/series-table.tsx'
import { TimeChart } from '../../charts/time-chart.tsx'
import { useFormats } from '../../format/use-formats.ts'
import { Card } from '../../ui/card.tsx'
import { Choices } from '../../ui/fields/choices.tsx'
import { useGroupNames } from './group-names.ts'
import { GroupTable } from './group-table.tsx'
import styles from './usage-page.module.css'
import { METRICS, TABLES, type UsageSearch } from './usage-search.ts'
import { chartOf, type Report } from './usage-series.ts'
import { useUsageSearch } from './use-usage-search.ts'

interface ReportViewProps {
  readonly report: Report
  readonly search: UsageSearch
}

/** The chart of a report, and the tables that say the same. */
export function ReportView({ report, search }: ReportViewProps) {
  const { show, percentile, table, agent, key, user, compare } = search
  const t = useTranslations('usage')
  const formats = useFormats(report.timezone)
  const { change } = useUsageSearch()
  const namesOf = useGroupNames()
  const isTime = show === 'firstChunk' || show === 'duration'
  // biome-ignore lint/correctness/useExhaustiveDependencies: the names follow from the report and the language, as `t` does.
  const data = useMemo(() => {
    const names = {
      drawn:
        report.drawn === undefined ? [isTime ? percentile : t(`metrics.${show}`)] : namesOf(report.drawn),
      others: t('others'),
      before: t('before'),
    }
    const toGroups = { to: '/usage', search: { ...search, table: 'groups' } } as RecordsLink
    return chartOf(report, { show, percentile }, names, { common: { agent, key, user }, toGroups })
  }, [report, show, percentile, agent, key, user, search, t])
  const label = t('chartOf', {
    metric: t(`metrics.${show}`),
    range: formats.range(report.from, report.to),
  })
  return (
    <>
      <Card
        title={t(`metrics.${show}`)}
        aside={
          <div className={styles.choices}>
            {isTime && (
              <PercentileChoice value={percentile} onChange={(value) => change({ percentile: value })} />
            )}
            <Choices
              label={t('metric')}
              value={show}
              options={METRICS.map((value) => ({ value, label: t(`metrics.${value}`) }))}
              onChange={(value) => change({ show: value })}
            />
          </div>
        }
      >
        <TimeChart
          label={label}
          data={data}
          onZoom={(from, to) => change({ range: undefined, from, to, by: undefined })}
        />
        <p className={styles.caption}>
          {formats.range(report.from, report.to)}
          {report.previous != null ? (
            <> · {t('comparedWith', { range: formats.range(report.previous.from, report.previous.to) })}</>
          ) : (
            compare && <> · {t('nothingBefore')}</>
          )}
          {' · '}
          {report.timezone}
          {' · '}
          {t('howToUse')}
        </p>
      </Card>
      <Card
        title={t(table === 'groups' ? 'byGroup' : 'overTime')}
        aside={
          <Choices
            label={t('table')}
            value={table}
            options={TABLES.map((value) => ({ value, label: t(`tables.${value}`) }))}
            onChange={(value) => change({ table: value })}
          />
        }
        isFlush
      >
        {table === 'groups' ? (
          <GroupTable report={report} search={search} />
        ) : (
          <SeriesTable label={label} data={data} />
        )}
      </Card>
    </>
  )
}
