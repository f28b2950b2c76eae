import { useTranslations } from 'use-intl'
import { useFormats } from '../../format/use-formats.ts'
import styles from './processes.module.css'
import type { Process } from './versions-of.ts'

/** What is wrong with a process: since when and how much, and for whom its statements wait. */
export function ProcessConcerns({ concerns }: Pick<Process, 'concerns'>) {
  const t = useTranslations('processes')
  const { short } = useFormats()
  const holder = concerns.find(({ blockedBy }) => blockedBy !== null)?.blockedBy
  return (
    <>
      {concerns.map(({ concern, cause, since, count }) => (
        <div key={`${concern} ${cause}`} className={styles.concern}>
          {t(`concerns.${concern}`, { count: count ?? 0, cause: cause ?? '', time: short(since) })}
        </div>
      ))}
      {holder != null && <div className={styles.concern}>{t('blockedBy', { holder })}</div>}
    </>
  )
}
