import { type ReactNode, useId } from 'react'
import styles from './card.module.css'
import { classNames } from './class-names.ts'

/** Cards beside each other, where there is room. */
export function Cards({ children }: { readonly children: ReactNode }) {
  return <div className={styles.cards}>{children}</div>
}

interface CardProps {
  readonly title?: ReactNode
  /** Beside the title, such as a link or a choice. */
  readonly aside?: ReactNode
  /** Without the inner margin, for tables. */
  readonly isFlush?: boolean
  readonly children: ReactNode
}

export function Card({ title, aside, isFlush = false, children }: CardProps) {
  const id = useId()
  return (
    <section className={styles.card} aria-labelledby={title === undefined ? undefined : id}>
      {title !== undefined && (
        <header className={styles.header}>
          <h2 id={id}>{title}</h2>
          {aside}
        </header>
      )}
      <div className={classNames(isFlush ? styles.flush : styles.body)}>{children}</div>
    </section>
  )
}
