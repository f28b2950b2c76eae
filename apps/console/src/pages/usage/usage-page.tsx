import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslations } from 'use-intl'
import { preloadCharts } from '../../charts/use-plot.ts'
import { ZoneReplaced } from '../../charts/zone-replaced.tsx'
import { UsageReportDocument } from '../../generated/graphql.ts'
import { reportZone } from '../../report/zone.ts'
import { graphqlQuery } from '../../session/queries.ts'
import { useSession } from '../../session/use-session.ts'
import { Card } from '../../ui/card.tsx'
import { Empty, ErrorNotice, Loading } from '../../ui/notice.tsx'
import { Page } from '../../ui/page.tsx'
import { Controls } from './controls/controls.tsx'
import { CsvButton } from './controls/csv-button.tsx'
import { ReportView } from './report-view.tsx'
import styles from './usage-page.module.css'
import { comparable } from './usage-series.ts'
import { usageVariables } from './usage-variables.ts'
import { useUsageSearch } from './use-usage-search.ts'

preloadCharts()

/** Reports of any range, by any grouping, as a chart, as tables and as CSV. */
export function UsagePage() {
  const t = useTranslations('usage')
  const { role } = useSession()
  const { search } = useUsageSearch()
  const [{ replaced }] = useState(reportZone)
  return (
    <Page title={t('title')} lead={t(role === 'admin' ? 'ofAll' : 'ofYou')} actions={<CsvButton />}>
      <Card>
        <Controls />
      </Card>
      {replaced !== undefined && search.zone === 'UTC' && <ZoneReplaced zone={replaced} />}
      <ReportOfAddress />
    </Page>
  )
}

function ReportOfAddress() {
  const t = useTranslations('usage')
  const { search } = useUsageSearch()
  const report = useQuery({
    ...graphqlQuery(UsageReportDocument, usageVariables(search, new Date())),
    placeholderData: keepPreviousData,
    select: comparable,
  })
  const { data: usage, error, isPlaceholderData, refetch } = report
  return (
    <>
      {error !== null && <ErrorNotice error={error} retry={refetch} />}
      {error === null && usage === undefined && <Loading shape="chart" />}
      {usage !== undefined && (
        <div className={styles.report} aria-busy={isPlaceholderData}>
          {usage.totals.calls === 0 && (usage.previous?.totals.calls ?? 0) === 0 ? (
            <Card>
              <Empty title={t('empty')}>{t('emptyHint')}</Empty>
            </Card>
          ) : (
            <ReportView report={usage} search={search} />
          )}
        </div>
      )}
    </>
  )
}
