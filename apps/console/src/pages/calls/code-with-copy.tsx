import { CopyButton } from '../../ui/copy.tsx'
import styles from './calls.module.css'

/** An id to be copied. */
export function CodeWithCopy({ text }: { readonly text: string }) {
  return (
    <span className={styles.withCopy}>
      <code>{text}</code>
      <CopyButton text={text} />
    </span>
  )
}
