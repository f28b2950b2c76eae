import { ArrowDown, ArrowUp, Equal } from 'lucide-react'
import type { ReactNode } from 'react'
import { useTranslations } from 'use-intl'
import { useFormats } from '../../format/use-formats.ts'
import { type Change, changeOf } from '../../report/change.ts'
import { classNames } from '../../ui/class-names.ts'
import styles from './tiles.module.css'

interface TileProps {
  readonly label: string
  readonly value: string
  /** A second number that belongs to the first. */
  readonly detail?: ReactNode
  readonly now: number | null | undefined
  readonly before: number | null | undefined
  /** Whether more of it is bad, so that the colours say so; more calls are neither good nor bad. */
  readonly isBadWhenUp?: boolean
}

/** A number of a report beside that of the period before. */
export function Tile({ label, value, detail, now, before, isBadWhenUp = false }: TileProps) {
  return (
    <div className={styles.tile}>
      <dt>{label}</dt>
      <dd className={styles.value}>{value}</dd>
      {detail !== undefined && <dd className={styles.detail}>{detail}</dd>}
      <dd className={styles.change}>
        <ChangeText change={changeOf(now, before)} isBadWhenUp={isBadWhenUp} />
      </dd>
    </div>
  )
}

const ICONS = { up: ArrowUp, down: ArrowDown, same: Equal }

function ChangeText({
  change,
  isBadWhenUp,
}: {
  readonly change: Change | undefined
  readonly isBadWhenUp: boolean
}) {
  const t = useTranslations('overview.change')
  const formats = useFormats()
  if (change === undefined) return <span>{t('none')}</span>
  const { direction, share } = change
  const Icon = ICONS[direction]
  const isJudged = isBadWhenUp && direction !== 'same'
  return (
    <span className={classNames(isJudged && (direction === 'up' ? styles.worse : styles.better))}>
      <Icon aria-hidden />
      {t(direction, { share: formats.percent(share) })}
    </span>
  )
}
