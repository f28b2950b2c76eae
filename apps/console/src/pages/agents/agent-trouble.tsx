import { useTranslations } from 'use-intl'
import { useFormats } from '../../format/use-formats.ts'
import type { OverviewAgentsQuery } from '../../generated/graphql.ts'
import styles from './agent-trouble.module.css'
import { Reason } from './reason.tsx'

interface AgentTroubleProps {
  readonly agent: Pick<
    NonNullable<OverviewAgentsQuery['agents']>[number],
    'status' | 'statusSince' | 'statusReason'
  >
}

/** Since when an agent cannot serve all calls, and why, as far as calls and probes have shown it. */
export function AgentTrouble({ agent: { status, statusSince, statusReason } }: AgentTroubleProps) {
  const t = useTranslations('agents')
  const { short, moment } = useFormats()
  if (status === 'AVAILABLE') return null
  return (
    <>
      {statusSince !== null && (
        <div className={styles.trouble} title={moment(statusSince)}>
          {t('since', { time: short(statusSince) })}
        </div>
      )}
      {statusReason !== null && (
        <div className={styles.trouble}>
          <Reason reason={statusReason} />
        </div>
      )}
    </>
  )
}
