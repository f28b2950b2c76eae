import { useTranslations } from 'use-intl'
import { useFormats } from '../../format/use-formats.ts'
import styles from './processes.module.css'
import type { Process } from './versions-of.ts'

/** What is wrong with a process: since when, how much, and what it waits for. */
export function ProcessConcerns({ concerns }: Pick<Process, 'concerns'>) {
  const t = useTranslations('processes')
  const { moment } = useFormats()
  return concerns.map(({ concern, cause, since, count, blockedBy }) => (
    <div key={`${concern} ${cause}`} className={styles.concern}>
      {t(`concerns.${concern}`, { count: count ?? 0, cause: cause ?? '', time: moment(since) })}
      {blockedBy !== null && t('blockedBy', { holder: blockedBy })}
    </div>
  ))
}
