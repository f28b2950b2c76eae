import { useTranslations } from 'use-intl'
import { useFormats } from '../../format/use-formats.ts'
import { Card } from '../../ui/card.tsx'
import { classNames } from '../../ui/class-names.ts'
import { Facts } from '../../ui/facts.tsx'
import type { CallDetails } from './call-details.ts'
import styles from './calls.module.css'
import { Elapsed } from './stopping/elapsed.tsx'
import { isRunning } from './stopping/stop-call.ts'

/** How long the call waited for its agent, when it began, how long the agent took to begin its reply, and when it ended. */
export function CallTimes({ call }: { readonly call: CallDetails }) {
  const t = useTranslations('calls.call')
  const { moment, duration } = useFormats()
  const { admittedAt, queuedMs, firstChunkMs, durationMs, endedAt, kind } = call
  const isChat = kind === 'CHAT'
  return (
    <Card title={t('times')}>
      {isChat && <Bar firstChunkMs={firstChunkMs} durationMs={durationMs} />}
      <Facts
        facts={[
          [t('queued'), queuedMs === null ? null : duration(queuedMs)],
          [t('admittedAt'), moment(admittedAt)],
          [
            t('firstChunk'),
            isChat && endedAt !== null
              ? firstChunkMs === null
                ? t('noText')
                : duration(firstChunkMs)
              : null,
          ],
          [t('runningFor'), isRunning(call) ? <Elapsed key="running" since={admittedAt} /> : null],
          [t('duration'), durationMs === null ? null : duration(durationMs)],
          [t('endedAt'), endedAt === null ? null : moment(endedAt)],
        ]}
      />
    </Card>
  )
}

interface BarProps {
  readonly firstChunkMs: number | null
  readonly durationMs: number | null
}

/** How the time is divided; the numbers are beside it. */
function Bar({ firstChunkMs, durationMs }: BarProps) {
  const t = useTranslations('calls.call')
  if (firstChunkMs === null || durationMs === null || durationMs === 0) return null
  return (
    <>
      <div className={styles.bar} aria-hidden>
        <span className={styles.waiting} style={{ flexGrow: firstChunkMs }} />
        <span className={styles.writing} style={{ flexGrow: Math.max(durationMs - firstChunkMs, 0) }} />
      </div>
      <ul className={styles.legend}>
        <li>
          <i className={classNames(styles.waiting)} aria-hidden />
          {t('waiting')}
        </li>
        <li>
          <i className={classNames(styles.writing)} aria-hidden />
          {t('writing')}
        </li>
      </ul>
    </>
  )
}
