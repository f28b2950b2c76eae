import { ArrowDown, ArrowUp, Equal } from 'lucide-react'
import { useTranslations } from 'use-intl'
import { useFormats } from '../format/use-formats.ts'
import { classNames } from '../ui/class-names.ts'
import { changeOf } from './change.ts'
import styles from './change-text.module.css'
import type { Verdict } from './verdict.ts'

interface ChangeTextProps {
  readonly now: number | null | undefined
  readonly before: number | null | undefined
  /** Percentiles are known to about 5 %, so that small changes of them say nothing. */
  readonly kind?: 'count' | 'percentile'
  /** What the colour says of it. */
  readonly verdict?: Verdict
}

const ICONS = { up: ArrowUp, down: ArrowDown, same: Equal }

/** By how much a number differs from that of the period before. */
export function ChangeText({ now, before, kind = 'count', verdict }: ChangeTextProps) {
  const t = useTranslations('charts.changes')
  const formats = useFormats()
  const change = changeOf(now, before, kind)
  if (change === undefined) return <span className={styles.change}>{t('none')}</span>
  const { direction, share } = change
  const Icon = ICONS[direction]
  const text = kind === 'count' ? formats.percent(share) : formats.aboutPercent(share)
  const same = kind === 'count' ? t('same') : t('alike')
  return (
    <span className={classNames(styles.change, verdict && styles[verdict])}>
      <Icon aria-hidden />
      {direction === 'same' ? same : t(direction, { share: text })}
    </span>
  )
}
