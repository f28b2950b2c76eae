import { useTranslations } from 'use-intl'
import { useFormats } from '../../format/use-formats.ts'
import { Card } from '../../ui/card.tsx'
import { classNames } from '../../ui/class-names.ts'
import { Facts } from '../../ui/facts.tsx'
import type { CallDetails } from './call-details.ts'
import styles from './calls.module.css'
import { Elapsed } from './stopping/elapsed.tsx'
import { isRunning } from './stopping/stop-call.ts'

/** Where the time of a call went, when it began, and when it ended. */
export function CallTimes({ call }: { readonly call: CallDetails }) {
  const t = useTranslations('calls.call')
  const { moment, duration } = useFormats()
  const { admittedAt, durationMs, endedAt } = call
  return (
    <Card title={t('times')}>
      <Parts parts={partsOf(call)} />
      <Facts
        facts={[
          [t('runningFor'), isRunning(call) ? <Elapsed key="running" since={admittedAt} /> : null],
          [t('duration'), durationMs === null ? null : duration(durationMs)],
          [t('admittedAt'), moment(admittedAt)],
          [t('endedAt'), endedAt === null ? null : moment(endedAt)],
        ]}
      />
    </Card>
  )
}

interface Part {
  readonly name: 'queued' | 'waiting' | 'withoutText' | 'writing'
  readonly ms: number
}

/** The parts of the time that are known, in their order. The duration begins when the queue is over. */
function partsOf({ queuedMs, firstChunkMs, durationMs, endedAt, kind }: CallDetails): readonly Part[] {
  const queued: Part[] = queuedMs === null || queuedMs === 0 ? [] : [{ name: 'queued', ms: queuedMs }]
  if (kind !== 'CHAT' || durationMs === null || endedAt === null) return queued
  if (firstChunkMs === null) return [...queued, { name: 'withoutText', ms: durationMs }]
  return [
    ...queued,
    { name: 'waiting', ms: firstChunkMs },
    { name: 'writing', ms: Math.max(durationMs - firstChunkMs, 0) },
  ]
}

const COLOURS = {
  queued: styles.queued,
  waiting: styles.waiting,
  withoutText: styles.waiting,
  writing: styles.writing,
}

/** How the time is divided, as a bar and in numbers. */
function Parts({ parts }: { readonly parts: readonly Part[] }) {
  const t = useTranslations('calls.call')
  const { duration } = useFormats()
  if (parts.length === 0) return null
  return (
    <>
      <div className={styles.bar} aria-hidden>
        {parts.map(({ name, ms }) => (
          <span key={name} className={classNames(COLOURS[name])} style={{ flexGrow: ms }} />
        ))}
      </div>
      <ul className={styles.legend} aria-label={t('times')}>
        {parts.map(({ name, ms }) => (
          <li key={name}>
            <i className={classNames(COLOURS[name])} aria-hidden />
            {t(name)} <span>{duration(ms)}</span>
          </li>
        ))}
      </ul>
    </>
  )
}
