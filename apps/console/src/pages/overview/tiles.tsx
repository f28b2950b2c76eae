import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useTranslations } from 'use-intl'
import { callsLink } from '../../charts/calls-link.ts'
import type { RecordsLink } from '../../charts/chart-data.ts'
import { useFormats } from '../../format/use-formats.ts'
import type { NumbersFragment, OverviewQuery, QuotaLeftFragment } from '../../generated/graphql.ts'
import { ChangeText } from '../../report/change-text.tsx'
import { judgeFailures, judgeTime } from '../../report/verdict.ts'
import { classNames } from '../../ui/class-names.ts'
import styles from './tiles.module.css'

interface TilesProps {
  readonly report: NonNullable<OverviewQuery['usage']>
  /** Absent until it has been read. */
  readonly before: NumbersFragment | undefined
}

/** The numbers of the range, and what is left of the quota. Where nothing is known there is a dash and not a zero. */
export function Tiles({ report, before }: TilesProps) {
  const t = useTranslations('overview')
  const formats = useFormats()
  const { totals, from, to, timezone: zone, quota } = report
  const { calls, failedCalls, totalTokens, tokenCoverage, ratedUp, ratedDown } = totals
  const rated = { up: formats.count(ratedUp), down: formats.count(ratedDown) }
  const time = (ms: number | undefined) => (ms === undefined ? '–' : formats.about(ms))
  const calledIn = callsLink()
  const inUsage = (show: 'tokens' | 'firstChunk' | 'duration') =>
    ({ to: '/usage', search: { from, to, zone, show } }) as const
  return (
    <dl className={styles.tiles}>
      <Tile
        label={t('calls')}
        value={formats.count(calls)}
        link={calledIn(from, to)}
        detail={ratedUp + ratedDown > 0 && t('rated', rated)}
      >
        <ChangeText now={calls} before={before?.calls} />
      </Tile>
      <Tile
        label={t('failures')}
        value={formats.count(failedCalls)}
        link={calledIn(from, to, { outcome: 'FAILED' })}
        detail={calls > 0 && t('ofCalls', { share: formats.percent(failedCalls / calls) })}
      >
        <ChangeText
          now={failedCalls}
          before={before?.failedCalls}
          verdict={before && judgeFailures(totals, before)}
        />
      </Tile>
      <Tile
        label={t('tokens')}
        value={totalTokens === null ? '–' : formats.compact(totalTokens)}
        link={inUsage('tokens')}
        detail={tokenCoverage !== null && t('tokenCoverage', { share: formats.percent(tokenCoverage) })}
      >
        <ChangeText now={totalTokens} before={before?.totalTokens} />
      </Tile>
      {(['firstChunk', 'duration'] as const).map((name) => {
        const [now, then] = [totals[`${name}Ms`], before?.[`${name}Ms`]?.p50]
        return (
          <Tile
            key={name}
            label={t(name)}
            value={time(now?.p50)}
            link={inUsage(name)}
            detail={t('p95', { time: time(now?.p95) })}
          >
            <ChangeText now={now?.p50} before={then} kind="percentile" verdict={judgeTime(now?.p50, then)} />
          </Tile>
        )
      })}
      <QuotaTile quota={quota} />
    </dl>
  )
}

/** How many calls the user may still make. */
function QuotaTile({ quota }: { readonly quota: QuotaLeftFragment }) {
  const t = useTranslations('overview')
  const formats = useFormats()
  const { maxApiCalls, apiCallsCount, remaining, quotaPeriod } = quota
  const isUsedUp = remaining === 0
  const numbers = { used: formats.count(apiCallsCount), max: formats.count(maxApiCalls) }
  // A quota of no calls at all is used up as well.
  const max = Math.max(maxApiCalls, 1)
  const used = isUsedUp ? t('quotaUsedUp') : t(`quotaUsed.${quotaPeriod}`, numbers)
  return (
    <Tile
      label={t('quota')}
      value={formats.count(remaining)}
      link={{ to: '/account', search: {} }}
      detail={used}
    >
      <progress
        className={classNames(isUsedUp && styles.usedUp)}
        aria-label={used}
        max={max}
        value={isUsedUp ? max : apiCallsCount}
      />
    </Tile>
  )
}

interface TileProps {
  readonly label: string
  readonly value: string
  /** Where the number comes from. */
  readonly link: RecordsLink
  /** A second number that belongs to the first. */
  readonly detail?: string | false
  /** Beside the number: how it has changed, or how much of it is used. */
  readonly children: ReactNode
}

/** A number of a report, which leads to what it counts. */
function Tile({ label, value, link, detail, children }: TileProps) {
  return (
    <div className={styles.tile}>
      <dt>{label}</dt>
      <dd className={styles.value}>
        <Link {...link}>{value}</Link>
      </dd>
      <dd className={styles.beside}>{children}</dd>
      {detail && <dd className={styles.detail}>{detail}</dd>}
    </div>
  )
}
