import { useTranslations } from 'use-intl'
import { Badge } from '../../ui/badge.tsx'
import styles from './processes.module.css'
import type { RunningVersion } from './versions-of.ts'

interface VersionsProps {
  readonly versions: readonly RunningVersion[]
  /** How many processes are listed. */
  readonly count: number
}

/** How many processes there are and which versions those that live have: more than one while an installation is updated. */
export function Versions({ versions, count }: VersionsProps) {
  const t = useTranslations('processes')
  const isMixed = versions.length > 1
  return (
    <span className={styles.versions}>
      {t('count', { count })}
      {versions.map(({ version, processes }) => (
        <Badge key={version} tone={isMixed ? 'warn' : 'neutral'}>
          {t('ofVersion', { version: version ?? t('unknownVersion'), count: processes })}
        </Badge>
      ))}
      {isMixed && <span className={styles.mixed}>{t('mixed')}</span>}
    </span>
  )
}
