import { CatchBoundary } from '@tanstack/react-router'
import { lazy, Suspense, useDeferredValue } from 'react'
import styles from '../turns/turn.module.css'

const Markdown = lazy(() => import('./markdown.tsx'))

interface ReplyTextProps {
  readonly text: string
  readonly isRunning: boolean
}

/** Replies are Markdown. Where rendering takes longer than the next fragment, fragments in between are left out. */
export function ReplyText({ text, isRunning }: ReplyTextProps) {
  const shown = useDeferredValue(text)
  const plain = <p className={styles.text}>{text}</p>
  return (
    // Without the code for Markdown the reply is shown as it was sent.
    <CatchBoundary getResetKey={() => 0} errorComponent={() => plain}>
      <Suspense fallback={plain}>
        <Markdown text={shown} isGrowing={isRunning} />
      </Suspense>
    </CatchBoundary>
  )
}
