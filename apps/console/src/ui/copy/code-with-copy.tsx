import styles from './copy.module.css'
import { CopyButton } from './copy.tsx'

/** An id to be copied. */
export function CodeWithCopy({ text }: { readonly text: string }) {
  return (
    <span className={styles.withCopy}>
      <code>{text}</code>
      <CopyButton text={text} />
    </span>
  )
}
