import { ArrowDown, ArrowUp, Equal, EqualApproximately } from 'lucide-react'
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

const ICONS = { up: ArrowUp, down: ArrowDown, same: Equal, alike: EqualApproximately }

/** By how much a number differs from that of the period before; nothing where there is none to compare with. */
export function ChangeText({ now, before, kind = 'count', verdict }: ChangeTextProps) {
  const t = useTranslations('charts.changes')
  const formats = useFormats()
  const change = changeOf(now, before, kind)
  if (change === undefined) return null
  const { direction, share } = change
  const isCount = kind === 'count'
  const name = direction === 'same' && !isCount ? 'alike' : direction
  const Icon = ICONS[name]
  return (
    <span className={classNames(styles.change, verdict && styles[verdict])}>
      <Icon role="img" aria-label={t(name)} />
      {direction !== 'same' && (isCount ? formats.percent(share) : formats.aboutPercent(share))}
    </span>
  )
}
