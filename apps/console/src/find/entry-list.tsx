import { useEffect, useRef } from 'react'
import { useTranslations } from 'use-intl'
import type { Entry } from './entries.ts'
import { EntryOption } from './entry-option.tsx'
import styles from './palette.module.css'

interface EntryListProps {
  readonly id: string
  readonly entries: readonly Entry[]
  /** The id of the marked one. */
  readonly marked: string | undefined
  onOpen(entry: Entry): void
  /** Called when one is opened by its link. */
  onLeave(): void
}

const KINDS = ['page', 'agent', 'key', 'user', 'request'] as const

/** The entries under the names of their kinds. */
export function EntryList({ id, entries, marked, onOpen, onLeave }: EntryListProps) {
  const t = useTranslations('search')
  const list = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (marked !== undefined) list.current?.querySelector(`#${marked}`)?.scrollIntoView({ block: 'nearest' })
  }, [marked])
  return (
    <div ref={list} id={id} className={styles.list} role="listbox" aria-label={t('results')}>
      {KINDS.map((kind) => {
        const ofKind = entries.filter((entry) => entry.kind === kind)
        if (ofKind.length === 0) return null
        return (
          // biome-ignore lint/a11y/useSemanticElements: a listbox has groups, and no fieldsets.
          <div key={kind} role="group" aria-labelledby={`${id}-${kind}`}>
            <div id={`${id}-${kind}`} className={styles.kind} role="presentation">
              {t(`kinds.${kind}`)}
            </div>
            {ofKind.map((entry) => (
              <EntryOption
                key={entry.id}
                entry={entry}
                isMarked={entry.id === marked}
                onOpen={onOpen}
                onLeave={onLeave}
              />
            ))}
          </div>
        )
      })}
    </div>
  )
}
