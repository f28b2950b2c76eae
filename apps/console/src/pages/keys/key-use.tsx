import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslations } from 'use-intl'
import { Count } from '../../charts/count.tsx'
import { useFormats } from '../../format/use-formats.ts'
import {
  AuditEventsDocument,
  KeyDocument,
  type KeyFieldsFragment,
  KeysDocument,
} from '../../generated/graphql.ts'
import { startOfDay, startOfMonth } from '../../report/zone.ts'
import { client } from '../../session/gateway.ts'
import { invalidate } from '../../session/queries.ts'
import { useSession } from '../../session/use-session.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { Confirm } from '../../ui/overlays/confirm.tsx'
import { useToast } from '../../ui/overlays/toasts.tsx'
import { KeyChart } from './key-chart.tsx'
import styles from './keys.module.css'

interface KeyUseProps {
  readonly apiKey: KeyFieldsFragment
  readonly mayReset: boolean
}

/** How much a key was called: its counters, each of which can be set to zero, and the last weeks as a chart. */
export function KeyUse({ apiKey, mayReset }: KeyUseProps) {
  const t = useTranslations('keys')
  const formats = useFormats()
  const toast = useToast()
  // Others do not see what the owner of a key calls.
  const { role, userId } = useSession()
  const [asked, setAsked] = useState<{ period: 'day' | 'month' | 'total'; label: string }>()
  const [isAsking, setAsking] = useState(false)
  const { callsToday, callsThisMonth, totalCalls, lastUsedAt } = apiKey.usage
  // The counters restart with the days and months of UTC.
  const now = new Date()
  const counters = [
    {
      period: 'day',
      label: t('today'),
      count: callsToday,
      since: { from: startOfDay(now, 'UTC').toISOString() },
    },
    {
      period: 'month',
      label: t('month'),
      count: callsThisMonth,
      since: { from: startOfMonth(now, 'UTC').toISOString() },
    },
    { period: 'total', label: t('total'), count: totalCalls, since: { range: 'all' } },
  ] as const
  return (
    <Card
      title={t('key.use')}
      aside={
        <span className={styles.links}>
          <Link to="/usage" search={{ key: apiKey.id }}>
            {t('key.report')}
          </Link>
          <Link to="/calls" search={{ key: apiKey.id, range: 'all' }}>
            {t('key.calls')}
          </Link>
        </span>
      }
    >
      <div className={styles.counters}>
        {counters.map(({ period, label, count, since }) => (
          <div key={period} className={styles.counter}>
            <span>{label}</span>
            <strong>
              <Count value={count} link={{ to: '/calls', search: { key: apiKey.id, ...since } }} />
            </strong>
            {mayReset && (
              <Button
                look="quiet"
                disabled={count === 0}
                aria-label={`${t('key.reset')}: ${label}`}
                onClick={() => {
                  setAsked({ period, label })
                  setAsking(true)
                }}
              >
                {t('key.reset')}
              </Button>
            )}
          </div>
        ))}
        <div className={styles.counter}>
          <span>{t('lastUsed')}</span>
          <span>{lastUsedAt === null ? t('never') : formats.moment(lastUsedAt)}</span>
        </div>
      </div>
      {(role === 'admin' || apiKey.ownerId === userId) && <KeyChart id={apiKey.id} />}
      <Confirm
        title={t('key.resetTitle', { counter: asked?.label ?? '' })}
        action={t('key.reset')}
        look="primary"
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        run={async () => {
          if (asked !== undefined) await client.apiKeys.resetUsage(apiKey.id, { period: asked.period })
          await invalidate(KeyDocument, AuditEventsDocument, KeysDocument)
          toast(t('key.resetDone'))
        }}
      >
        {t('key.resetHint')}
      </Confirm>
    </Card>
  )
}
