import { useTranslations } from 'use-intl'
import { useFormats } from '../../format/use-formats.ts'
import type { Agent } from './agent.ts'
import styles from './agents-page.module.css'
import { Reason } from './reason.tsx'

/** Since when an agent cannot serve all calls, and why, as far as calls and probes have shown it. */
export function AgentTrouble({ agent }: { readonly agent: Agent }) {
  const t = useTranslations('agents')
  const { moment } = useFormats()
  const { status, statusSince, statusReason } = agent
  if (status === 'AVAILABLE' || (statusSince == null && statusReason == null)) return null
  return (
    <p className={styles.trouble}>
      {statusSince != null && <span>{t('since', { time: moment(statusSince) })}</span>}
      {statusReason != null && <Reason reason={statusReason} />}
    </p>
  )
}
