import { Link } from '@tanstack/react-router'
import { useEffect } from 'react'
import { useTranslations } from 'use-intl'
import { ReturnWatch } from '../session/return-watch.ts'
import { isGatewayBack, PartNotLoadedError, reloadIfReachable } from '../ui/load-part.ts'
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
  const isNotLoaded = error instanceof PartNotLoadedError
  useEffect(() => {
    if (!isNotLoaded) return
    // Where the gateway was never away, loading the console anew by itself might go on for ever.
    let wasAway = false
    const watch = new ReturnWatch(
      async () => {
        location.reload()
        return true
      },
      async () => {
        const isBack = await isGatewayBack()
        wasAway ||= !isBack
        return isBack && wasAway
      },
    )
    watch.start()
    return () => watch.stop()
  }, [isNotLoaded])
  if (error !== undefined)
    return (
      <Page title={t('failed')}>
        <ErrorNotice
          error={error}
          {...(isNotLoaded ? { retry: () => void reloadIfReachable() } : retry !== undefined && { retry })}
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
