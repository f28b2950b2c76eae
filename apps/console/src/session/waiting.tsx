import { Hourglass } from 'lucide-react'
import { useTranslations } from 'use-intl'
import { Notice } from '../ui/notice.tsx'
import { isRateLimited } from './queries.ts'

interface WaitingProps {
  /** The queries of a page. */
  readonly queries: readonly { readonly failureReason: unknown; readonly isFetching: boolean }[]
}

/** Says that the gateway has asked to wait, while a query of the page does so. */
export function Waiting({ queries }: WaitingProps) {
  const t = useTranslations('common')
  const waits = queries.map(({ failureReason, isFetching }) =>
    isFetching && isRateLimited(failureReason) ? (failureReason.retryAfterMs ?? 0) : 0,
  )
  const seconds = Math.ceil(Math.max(0, ...waits) / 1_000)
  if (seconds === 0) return null
  return (
    <Notice tone="warn" icon={<Hourglass aria-hidden />}>
      {t('waiting', { seconds })}
    </Notice>
  )
}
