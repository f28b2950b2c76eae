import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslations } from 'use-intl'
import { preloadCharts } from '../../charts/use-plot.ts'
import { ZoneReplaced } from '../../charts/zone-replaced.tsx'
import { FirstStepsDocument } from '../../generated/graphql.ts'
import { reportZone } from '../../report/zone.ts'
import { graphqlQuery } from '../../session/queries.ts'
import { useSession } from '../../session/use-session.ts'
import { Choices } from '../../ui/fields/choices.tsx'
import { ErrorNotice, Loading, Notice } from '../../ui/notice.tsx'
import { Page } from '../../ui/page.tsx'
import { AgentsCard } from './agents-card.tsx'
import { Charts } from './charts.tsx'
import { ComparedWith } from './compared-with.tsx'
import { FirstSteps } from './first-steps.tsx'
import { HealthSlot } from './health-slot.tsx'
import styles from './overview-page.module.css'
import { OVERVIEW_RANGES } from './overview-range.ts'
import { Tiles } from './tiles.tsx'
import { useOverview } from './use-overview.ts'

preloadCharts()

/** What has been used lately, beside the time before, and live. */
export function OverviewPage() {
  const t = useTranslations('overview')
  const navigate = useNavigate()
  const { role } = useSession()
  const { range, percentile } = useSearch({ from: '/shell/' })
  const [{ zone, replaced }] = useState(reportZone)
  return (
    <Page
      title={t('title')}
      lead={t(role === 'admin' ? 'ofAll' : 'ofYou')}
      actions={
        <Choices
          label={t('range')}
          value={range}
          options={OVERVIEW_RANGES.map((value) => ({ value, label: t(`ranges.${value}`) }))}
          onChange={(value) => void navigate({ to: '/', search: { range: value, percentile } })}
        />
      }
    >
      {replaced !== undefined && <ZoneReplaced zone={replaced} />}
      <Numbers zone={zone} />
    </Page>
  )
}

function Numbers({ zone }: { readonly zone: string }) {
  const t = useTranslations('overview')
  const navigate = useNavigate()
  const { role } = useSession()
  const { range, percentile } = useSearch({ from: '/shell/' })
  const [isDrawn, setDrawn] = useState(false)
  const { report, usage, reportBefore, live, liveState } = useOverview(range, zone, isDrawn)
  const hasNone = usage?.totals.calls === 0 && !report.isPlaceholderData
  // Read anew whenever the user comes back from one of the steps.
  const steps = useQuery({ ...graphqlQuery(FirstStepsDocument, {}), enabled: hasNone, staleTime: 0 })
  const isCounted = !hasNone || (live?.totals.calls ?? 0) > 0
  const isEmpty = !isCounted && steps.data?.calls?.nodes.length === 0
  // The steps stay when the last of them is done, until the user goes on.
  const [isStarting, setStarting] = useState(false)
  if (isEmpty && !isStarting) {
    setStarting(true)
    setDrawn(true)
  }
  if (usage === undefined || usage === null) {
    if (report.error !== null) return <ErrorNotice error={report.error} retry={report.refetch} />
    return <Loading shape="chart" />
  }
  if (isStarting && steps.data !== undefined) {
    const showNumbers = () => {
      setStarting(false)
      void report.refetch()
    }
    return <FirstSteps found={steps.data} isCounted={isCounted} onDone={showNumbers} />
  }
  if (hasNone && steps.isPending) return <Loading shape="chart" />
  return (
    <>
      {report.error !== null && <ErrorNotice error={report.error} retry={report.refetch} />}
      {liveState === 'lost' && <Notice tone="warn">{t('liveLost')}</Notice>}
      {role === 'admin' && <HealthSlot report={usage} before={reportBefore} isReady={isDrawn} />}
      <Tiles report={usage} before={reportBefore?.totals} />
      <ComparedWith before={reportBefore} zone={zone} isLive={liveState === 'live'} />
      <div className={styles.cards}>
        <Charts
          report={usage}
          percentile={percentile}
          onPercentile={(value) => void navigate({ to: '/', search: { range, percentile: value } })}
          onZoom={(from, to) => void navigate({ to: '/usage', search: { from, to, zone } })}
          onDrawn={() => setDrawn(true)}
        />
        <AgentsCard report={usage} />
      </div>
    </>
  )
}
