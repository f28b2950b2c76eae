import { useTranslations } from 'use-intl'
import { Card } from '../../ui/card.tsx'
import { Table } from '../../ui/table.tsx'
import styles from './audit.module.css'
import type { AuditDetails } from './audit-details.ts'
import { useAuditNames } from './audit-names.ts'
import { type ComparedField, compareStates } from './compare-states.ts'

/** What the event is about, before and after, field by field. Nothing where it has no state, as for a login. */
export function EventChange({ event: { before, after } }: { readonly event: AuditDetails }) {
  const t = useTranslations('audit.event')
  const fields = compareStates(before, after)
  if (fields.length === 0) return null
  return (
    <Card title={t('change')} isFlush>
      <Table label={t('changeByField')}>
        <thead>
          <tr>
            <th scope="col">{t('field')}</th>
            <th scope="col">{t('before')}</th>
            <th scope="col">{t('after')}</th>
          </tr>
        </thead>
        <tbody>
          {fields.map((field) => (
            <FieldRow key={field.name} field={field} isMarked={before !== null && after !== null} />
          ))}
        </tbody>
      </Table>
    </Card>
  )
}

interface FieldRowProps {
  readonly field: ComparedField
  /** Where all is new or gone, nothing stands out. */
  readonly isMarked: boolean
}

function FieldRow({ field: { name, before, after, hasChanged }, isMarked }: FieldRowProps) {
  const t = useTranslations('audit.event')
  const names = useAuditNames()
  return (
    <tr className={hasChanged && isMarked ? styles.changed : undefined}>
      <th scope="row">
        <code>{name}</code>
        {hasChanged && isMarked && <span className="visually-hidden"> {t('hasChanged')}</span>}
      </th>
      <td className={styles.value}>
        {before === undefined ? '–' : <code>{names.value(name, before)}</code>}
      </td>
      <td className={styles.value}>{after === undefined ? '–' : <code>{names.value(name, after)}</code>}</td>
    </tr>
  )
}
