import { lazy, Suspense, useDeferredValue } from 'react'
import styles from './turn.module.css'

const Markdown = lazy(() => import('./markdown.tsx'))

interface ReplyTextProps {
  readonly text: string
  readonly isRunning: boolean
}

/** Replies are Markdown. Where rendering takes longer than the next fragment, fragments in between are left out. */
export function ReplyText({ text, isRunning }: ReplyTextProps) {
  const shown = useDeferredValue(text)
  return (
    <Suspense fallback={<p className={styles.text}>{text}</p>}>
      <Markdown text={shown} isGrowing={isRunning} />
    </Suspense>
  )
}
