import { Link } from '@tanstack/react-router'
import { useTranslations } from 'use-intl'
import { PartNotLoadedError, reloadIfReachable } from '../ui/load-part.ts'
import { Empty, ErrorNotice } from '../ui/notice.tsx'
import { Page } from '../ui/page.tsx'

interface FallbackProps {
  /** Absent where there is no page at the address. */
  readonly error?: unknown
  retry?(): void
}

/** What is shown in place of a page that does not exist or has failed. */
export function Fallback({ error, retry }: FallbackProps) {
  const t = useTranslations('common')
  if (error !== undefined)
    return (
      <Page title={t('failed')}>
        <ErrorNotice
          error={error}
          {...(error instanceof PartNotLoadedError
            ? { retry: () => void reloadIfReachable() }
            : retry !== undefined && { retry })}
        />
      </Page>
    )
  // Such an address belongs to no part of the console, so there is no shell around it.
  return (
    <main>
      <Page title={t('notFound')}>
        <Empty title={t('notFoundHint')}>
          <Link to="/">{t('toOverview')}</Link>
        </Empty>
      </Page>
    </main>
  )
}
