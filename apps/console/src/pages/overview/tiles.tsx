import { useTranslations } from 'use-intl'
import { useFormats } from '../../format/use-formats.ts'
import type { NumbersFragment } from '../../generated/graphql.ts'
import { Tile } from './tile.tsx'
import styles from './tiles.module.css'

interface TilesProps {
  readonly totals: NumbersFragment
  /** Absent until it has been read. */
  readonly before: NumbersFragment | undefined
}

/** The numbers of the range. Where nothing is known there is a dash and not a zero. */
export function Tiles({ totals, before }: TilesProps) {
  const t = useTranslations('overview')
  const formats = useFormats()
  const { calls, failedCalls, totalTokens, tokenCoverage, firstChunkMs, durationMs } = totals
  const time = (ms: number | undefined) => (ms === undefined ? '–' : formats.duration(ms))
  return (
    <dl className={styles.tiles}>
      <Tile label={t('calls')} value={formats.count(calls)} now={calls} before={before?.calls} />
      <Tile
        label={t('failures')}
        value={formats.count(failedCalls)}
        detail={calls === 0 ? undefined : t('ofCalls', { share: formats.percent(failedCalls / calls) })}
        now={failedCalls}
        before={before?.failedCalls}
        isBadWhenUp
      />
      <Tile
        label={t('tokens')}
        value={totalTokens === null ? '–' : formats.compact(totalTokens)}
        detail={
          tokenCoverage === null ? undefined : t('tokenCoverage', { share: formats.percent(tokenCoverage) })
        }
        now={totalTokens}
        before={before?.totalTokens}
      />
      <Tile
        label={t('firstChunk')}
        value={time(firstChunkMs?.p50)}
        detail={t('p95', { time: time(firstChunkMs?.p95) })}
        now={firstChunkMs?.p50}
        before={before?.firstChunkMs?.p50}
        isBadWhenUp
      />
      <Tile
        label={t('duration')}
        value={time(durationMs?.p50)}
        detail={t('p95', { time: time(durationMs?.p95) })}
        now={durationMs?.p50}
        before={before?.durationMs?.p50}
        isBadWhenUp
      />
    </dl>
  )
}
