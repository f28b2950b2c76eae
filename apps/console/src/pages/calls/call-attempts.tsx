import { useTranslations } from 'use-intl'
import { useFormats } from '../../format/use-formats.ts'
import { second } from '../../lists/list-table.tsx'
import { Card } from '../../ui/card.tsx'
import { numeric, Table } from '../../ui/table.tsx'
import { attemptsOf, type ShownAttempt } from './attempts-of.ts'
import type { CallDetails } from './call-details.ts'
import styles from './calls.module.css'
import { OutcomeBadge } from './outcome-badge.tsx'

/** Where the call was sent, in order, and what came of each attempt. Nothing where it was sent nowhere, or still runs. */
export function CallAttempts({ call }: { readonly call: CallDetails }) {
  const t = useTranslations('calls.call')
  const attempts = attemptsOf(call)
  if (attempts.length === 0) return null
  return (
    <Card title={t('attempts')} isFlush>
      <Table label={t('attemptsInOrder')}>
        <thead>
          <tr>
            <th scope="col">{t('deployment')}</th>
            <th scope="col">{t('attemptResult')}</th>
            <th scope="col" className={numeric}>
              {t('attemptStart')}
            </th>
            <th scope="col" className={numeric}>
              {t('attemptDuration')}
            </th>
          </tr>
        </thead>
        <tbody>
          {attempts.map((attempt, place) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: attempts have no other name than their place, and never move.
            <AttemptRow key={place} attempt={attempt} place={place} />
          ))}
        </tbody>
      </Table>
    </Card>
  )
}

interface AttemptRowProps {
  readonly attempt: ShownAttempt
  readonly place: number
}

function AttemptRow({ attempt, place }: AttemptRowProps) {
  const t = useTranslations('calls.call')
  const { duration } = useFormats()
  const { deployment, outcome, reason, platformStatus, startMs, durationMs } = attempt
  return (
    <tr>
      <th scope="row">
        <span className={styles.attempt}>{place + 1}</span> <code>{deployment}</code>
      </th>
      <td>
        <OutcomeBadge outcome={outcome} />
        {reason !== null && <code className={second}>{reason}</code>}
        {platformStatus !== null && (
          <span className={second}>{t('platformStatusOf', { status: platformStatus })}</span>
        )}
      </td>
      <td className={numeric}>{startMs === null ? '–' : t('after', { time: duration(startMs) })}</td>
      <td className={numeric}>{durationMs === null ? '–' : duration(durationMs)}</td>
    </tr>
  )
}
