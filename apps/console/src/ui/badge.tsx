import type { ReactNode } from 'react'
import styles from './badge.module.css'
import { classNames } from './class-names.ts'

export type Tone = 'neutral' | 'ok' | 'warn' | 'danger' | 'accent'

/** A short word on the state of something. The word carries the meaning; the colour repeats it. */
export function Badge({
  tone = 'neutral',
  children,
}: {
  readonly tone?: Tone
  readonly children: ReactNode
}) {
  return <span className={classNames(styles.badge, styles[tone])}>{children}</span>
}
