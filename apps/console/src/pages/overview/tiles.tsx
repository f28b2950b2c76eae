import { useTranslations } from 'use-intl'
import { callsLink } from '../../charts/calls-link.ts'
import type { RecordsLink } from '../../charts/chart-data.ts'
import { useFormats } from '../../format/use-formats.ts'
import type { NumbersFragment, OverviewQuery } from '../../generated/graphql.ts'
import { judgeFailures, judgeTime } from '../../report/verdict.ts'
import { Tile } from './tile.tsx'
import styles from './tiles.module.css'

interface TilesProps {
  readonly report: NonNullable<OverviewQuery['usage']>
  /** Absent until it has been read. */
  readonly before: NumbersFragment | undefined
}

/** The numbers of the range. Where nothing is known there is a dash and not a zero. */
export function Tiles({ report, before }: TilesProps) {
  const t = useTranslations('overview')
  const formats = useFormats()
  const { totals, from, to, timezone: zone } = report
  const { calls, failedCalls, totalTokens, tokenCoverage, firstChunkMs, durationMs } = totals
  const time = (ms: number | undefined) => (ms === undefined ? '–' : formats.about(ms))
  const calledIn = callsLink()
  const times = (show: 'firstChunk' | 'duration'): RecordsLink => ({
    to: '/usage',
    search: { from, to, zone, show },
  })
  return (
    <dl className={styles.tiles}>
      <Tile
        label={t('calls')}
        value={formats.count(calls)}
        link={calledIn(from, to)}
        now={calls}
        before={before?.calls}
      />
      <Tile
        label={t('failures')}
        value={formats.count(failedCalls)}
        link={calledIn(from, to, { outcome: 'FAILED' })}
        detail={calls === 0 ? undefined : t('ofCalls', { share: formats.percent(failedCalls / calls) })}
        now={failedCalls}
        before={before?.failedCalls}
        verdict={before && judgeFailures(totals, before)}
      />
      <Tile
        label={t('tokens')}
        value={totalTokens === null ? '–' : formats.compact(totalTokens)}
        link={{ to: '/usage', search: { from, to, zone, show: 'tokens' } }}
        detail={
          tokenCoverage === null ? undefined : t('tokenCoverage', { share: formats.percent(tokenCoverage) })
        }
        now={totalTokens}
        before={before?.totalTokens}
      />
      <Tile
        label={t('firstChunk')}
        value={time(firstChunkMs?.p50)}
        link={times('firstChunk')}
        kind="percentile"
        detail={t('p95', { time: time(firstChunkMs?.p95) })}
        now={firstChunkMs?.p50}
        before={before?.firstChunkMs?.p50}
        verdict={judgeTime(firstChunkMs?.p50, before?.firstChunkMs?.p50)}
      />
      <Tile
        label={t('duration')}
        value={time(durationMs?.p50)}
        link={times('duration')}
        kind="percentile"
        detail={t('p95', { time: time(durationMs?.p95) })}
        now={durationMs?.p50}
        before={before?.durationMs?.p50}
        verdict={judgeTime(durationMs?.p50, before?.durationMs?.p50)}
      />
    </dl>
  )
}
