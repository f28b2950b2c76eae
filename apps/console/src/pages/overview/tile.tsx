import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { RecordsLink } from '../../charts/chart-data.ts'
import { ChangeText } from '../../report/change-text.tsx'
import type { Verdict } from '../../report/verdict.ts'
import styles from './tiles.module.css'

interface TileProps {
  readonly label: string
  readonly value: string
  /** Where the number comes from. */
  readonly link: RecordsLink
  /** A second number that belongs to the first. */
  readonly detail?: ReactNode
  readonly now: number | null | undefined
  readonly before: number | null | undefined
  readonly kind?: 'count' | 'percentile'
  readonly verdict?: Verdict
}

/** A number of a report beside that of the period before. */
export function Tile({ label, value, link, detail, ...change }: TileProps) {
  return (
    <div className={styles.tile}>
      <dt>{label}</dt>
      <dd className={styles.value}>
        <Link {...link}>{value}</Link>
      </dd>
      {detail !== undefined && <dd className={styles.detail}>{detail}</dd>}
      <dd className={styles.change}>
        <ChangeText {...change} />
      </dd>
    </div>
  )
}
