import type { ComponentProps, ReactNode } from 'react'
import { classNames } from '../class-names.ts'
import styles from './form.module.css'

/** Fields below each other. The rules of the contract check them, not the browser, whose words are those of its own language. */
export function Form({ className, ...rest }: ComponentProps<'form'>) {
  return <form className={classNames(styles.form, className)} noValidate {...rest} />
}

/** Two short fields beside each other, where there is room. */
export function FieldPair({ children }: { readonly children: ReactNode }) {
  return <div className={styles.pair}>{children}</div>
}
