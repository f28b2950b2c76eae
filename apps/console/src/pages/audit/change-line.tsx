import { useTranslations } from 'use-intl'
import { second } from '../../lists/list-table.tsx'
import styles from './audit.module.css'
import { useAuditNames } from './audit-names.ts'
import type { ComparedField } from './compare-states.ts'

/** Beyond these, the page of the event has them. */
const SHOWN = 3

/** What an event has changed, each field in one line. */
export function ChangeLine({ changes }: { readonly changes: readonly ComparedField[] }) {
  const t = useTranslations('audit')
  const names = useAuditNames()
  return (
    <>
      {changes.slice(0, SHOWN).map(({ name, before, after }) => {
        const text = `${names.value(name, before)} → ${names.value(name, after)}`
        return (
          <span key={name} className={styles.change} title={`${name}: ${text}`}>
            <code>{name}</code> {text}
          </span>
        )
      })}
      {changes.length > SHOWN && (
        <span className={second}>{t('moreChanges', { count: changes.length - SHOWN })}</span>
      )}
    </>
  )
}
