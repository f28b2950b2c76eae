import type { ComponentProps } from 'react'
import { classNames } from './class-names.ts'
import styles from './table.module.css'

/**
 * A table that scrolls sideways within its card on narrow screens. `label` names it for screen readers; cells with numbers have
 * the class name of {@link numeric}, those with times that of {@link time}.
 */
export function Table({ label, className, ...rest }: ComponentProps<'table'> & { readonly label: string }) {
  return (
    // The keyboard scrolls a region only if it can have the focus.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the region scrolls.
    <section className={styles.scroller} aria-label={label} tabIndex={0}>
      <table className={classNames(styles.table, className)} aria-label={label} {...rest} />
    </section>
  )
}

export const { numeric, time } = styles
