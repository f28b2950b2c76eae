import { Hourglass } from 'lucide-react'
import { useEffect, useState, useSyncExternalStore } from 'react'
import { useTranslations } from 'use-intl'
import { Notice } from '../ui/notice.tsx'
import { queryClient, rateLimitedUntilMs } from './queries.ts'

const subscribe = (listener: () => void) => queryClient.getQueryCache().subscribe(listener)

/** Says that a limit was reached and counts down, while something that a page reads waits for it. */
export function Waiting() {
  const untilMs = useSyncExternalStore(subscribe, rateLimitedUntilMs)
  return untilMs === 0 ? null : <Countdown untilMs={untilMs} />
}

function Countdown({ untilMs }: { readonly untilMs: number }) {
  const t = useTranslations('common')
  const [nowMs, setNowMs] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), 500)
    return () => clearInterval(timer)
  }, [])
  const seconds = Math.max(1, Math.ceil((untilMs - nowMs) / 1_000))
  return (
    <Notice tone="warn" icon={<Hourglass aria-hidden />}>
      {t('waiting')}
      {/* A timer is not read out again with each second. */}
      <span role="timer">{t('retryIn', { seconds })}</span>
    </Notice>
  )
}
