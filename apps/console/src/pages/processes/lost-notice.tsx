import { Link } from '@tanstack/react-router'
import { useTranslations } from 'use-intl'
import { useFormats } from '../../format/use-formats.ts'
import { Notice } from '../../ui/notice.tsx'
import { lostWithinDay, nameOf } from './lost.ts'
import type { Process } from './versions-of.ts'

/** The list has the others. */
const NAMED_MAX = 5

/** What was just lost, where the list shows only what lives. */
export function LostNotice({ processes }: { readonly processes: readonly Process[] }) {
  const t = useTranslations('processes')
  const { short } = useFormats()
  const lost = lostWithinDay(processes, new Date())
  if (lost.length === 0) return null
  return (
    <Notice
      tone="warn"
      title={t('lost', { count: lost.length })}
      action={
        <Link to="/processes" search={{ show: 'ended' }}>
          {t('toEnded')}
        </Link>
      }
    >
      {lost.slice(0, NAMED_MAX).map(({ process, replacement }) => (
        <p key={process.id}>
          {t('lostOne', { name: nameOf(process), time: short(process.lastSeenAt) })}
          {replacement === undefined
            ? t('notReplaced')
            : t('replacedBy', { pid: String(replacement.pid ?? replacement.id) })}
        </p>
      ))}
    </Notice>
  )
}
