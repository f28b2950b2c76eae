import { ArrowDown, ArrowUp, Equal } from 'lucide-react'
import { useTranslations } from 'use-intl'
import { useFormats } from '../format/use-formats.ts'
import { classNames } from '../ui/class-names.ts'
import { changeOf, isBeyondChance } from './change.ts'
import styles from './change-text.module.css'

interface ChangeTextProps {
  readonly now: number | null | undefined
  readonly before: number | null | undefined
  /** Percentiles are known to about 5 %, so that small changes of them say nothing. */
  readonly kind?: 'count' | 'percentile'
  /** Whether more of it is bad, so that the colours say so, where it is not chance; more calls are neither good nor bad. */
  readonly isBadWhenUp?: boolean
}

const ICONS = { up: ArrowUp, down: ArrowDown, same: Equal }

/** By how much a number differs from that of the period before. */
export function ChangeText({ now, before, kind = 'count', isBadWhenUp = false }: ChangeTextProps) {
  const t = useTranslations('charts.changes')
  const formats = useFormats()
  const change = changeOf(now, before, kind)
  if (change === undefined) return <span className={styles.change}>{t('none')}</span>
  const { direction, share } = change
  const Icon = ICONS[direction]
  const isTold = kind === 'percentile' || isBeyondChance(now ?? 0, before ?? 0)
  const isJudged = isBadWhenUp && direction !== 'same' && isTold
  const text = kind === 'count' ? formats.percent(share) : formats.aboutPercent(share)
  const same = kind === 'count' ? t('same') : t('alike')
  return (
    <span
      className={classNames(styles.change, isJudged && (direction === 'up' ? styles.worse : styles.better))}
    >
      <Icon aria-hidden />
      {direction === 'same' ? same : t(direction, { share: text })}
    </span>
  )
}
