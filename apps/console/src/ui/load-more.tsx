import { useEffect, useRef } from 'react'
import { useTranslations } from 'use-intl'
import { Button } from './button.tsx'
import styles from './load-more.module.css'
import { ErrorNotice } from './notice.tsx'

interface LoadMoreProps {
  /** An infinite query of the list above. */
  readonly query: {
    readonly hasNextPage: boolean
    readonly isFetchingNextPage: boolean
    readonly isFetchNextPageError: boolean
    readonly error: unknown
    fetchNextPage(): unknown
  }
}

/** The end of a list: reads on when it comes into view or its button is pressed. After a failure only the button does. */
export function LoadMore({ query }: LoadMoreProps) {
  const t = useTranslations('common')
  const end = useRef<HTMLDivElement>(null)
  const { hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage } = query
  const mayReadOn = hasNextPage && !isFetchingNextPage && !isFetchNextPageError
  useEffect(() => {
    if (!mayReadOn || end.current === null) return
    const observer = new IntersectionObserver(
      ([entry]) => {
        if (entry?.isIntersecting === true) fetchNextPage()
      },
      { rootMargin: '200px' },
    )
    observer.observe(end.current)
    return () => observer.disconnect()
  }, [mayReadOn, fetchNextPage])
  if (!hasNextPage) return null
  return (
    <div className={styles.end} ref={end}>
      {isFetchNextPageError && <ErrorNotice error={query.error} />}
      <Button isBusy={isFetchingNextPage} onClick={() => fetchNextPage()}>
        {isFetchingNextPage ? t('loading') : t('loadMore')}
      </Button>
    </div>
  )
}
