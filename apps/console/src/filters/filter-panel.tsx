import { SlidersHorizontal, X } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { useTranslations } from 'use-intl'
import { Button } from '../ui/button.tsx'
import { classNames } from '../ui/class-names.ts'
import { Toolbar } from '../ui/page.tsx'
import styles from './filters.module.css'

/** A filter that is set, in words. */
interface SetFilter {
  readonly label: string
  readonly value: string
  /** Whether its control is among the usual ones, in sight except on a phone. */
  readonly isUsual?: boolean
  clear(): void
}

interface FilterPanelProps {
  readonly label: string
  /** A control that is in sight on a phone as well. */
  readonly search?: ReactNode
  /** The controls that are shown; on a phone only after they are opened. */
  readonly children: ReactNode
  /** Controls that are shown only after they are opened. */
  readonly more?: ReactNode
  /** What is shown is easily forgotten where its control is not in sight. */
  readonly set: readonly SetFilter[]
}

/** Many filters of a list: the usual ones, the others on demand, and those that are set, each with a way to take it away. */
export function FilterPanel({ label, search, children, more, set }: FilterPanelProps) {
  const t = useTranslations('filters')
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Toolbar label={label}>
        {search && <div className={styles.first}>{search}</div>}
        <div className={classNames(styles.usual, !isOpen && styles.closed)}>{children}</div>
        <Button
          className={classNames(more === undefined && styles.onPhone)}
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          <SlidersHorizontal aria-hidden />
          {t(isOpen ? 'fewer' : more === undefined ? 'filters' : 'more')}
        </Button>
        {isOpen && more !== undefined && <div className={styles.more}>{more}</div>}
      </Toolbar>
      {set.length > 0 && (
        <ul className={styles.chips} aria-label={t('set')}>
          {set.map(({ label: name, value, isUsual = false, clear }) => (
            <li key={name} className={classNames(isUsual && styles.usualChip)}>
              <Button className={styles.chip} title={t('clear')} onClick={clear}>
                <span>{t('chip', { name, value })}</span>
                <X aria-hidden />
                <span className="visually-hidden">{t('clear')}</span>
              </Button>
            </li>
          ))}
        </ul>
      )}
    </>
  )
}
