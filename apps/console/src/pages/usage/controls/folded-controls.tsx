import { ChevronDown, SlidersHorizontal } from 'lucide-react'
import { type ReactNode, useId, useState } from 'react'
import { useTranslations } from 'use-intl'
import { Button } from '../../../ui/button.tsx'
import styles from './controls.module.css'

interface FoldedControlsProps {
  /** What is shown as it is, such as the name of the range. */
  readonly summary?: string
  /** How many filters are set. */
  readonly count: number
  readonly children: ReactNode
}

/**
 * The controls of the report: in sight where there is room, and on a phone behind a button that says which range is shown and how
 * many filters are set.
 */
export function FoldedControls({ summary, count, children }: FoldedControlsProps) {
  const t = useTranslations('filters')
  const id = useId()
  const [isOpen, setOpen] = useState(false)
  return (
    <div className={styles.folded} data-open={isOpen || undefined}>
      <Button
        className={styles.fold}
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
      >
        <SlidersHorizontal aria-hidden />
        <span>
          {summary !== undefined && <>{summary} · </>}
          {count === 0 ? t('filters') : t('filtersSet', { count })}
        </span>
        <ChevronDown aria-hidden />
      </Button>
      <div id={id} className={styles.folding}>
        {children}
      </div>
    </div>
  )
}
