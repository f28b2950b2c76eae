import { Link } from '@tanstack/react-router'
import { useTranslations } from 'use-intl'
import { useFormats } from '../../format/use-formats.ts'
import { Breaker } from '../../ui/breaker.tsx'
import styles from './processes.module.css'
import type { Process } from './versions-of.ts'

/** The deployments to which a process does not send calls as usual, and why. */
export function OpenBreakers({ breakers }: Pick<Process, 'breakers'>) {
  const t = useTranslations('agents.deployments')
  const { moment } = useFormats()
  return (
    <ul className={styles.breakers}>
      {breakers.map(({ agentId, deploymentId, breaker, openSince, reason }) => (
        <li key={`${agentId}/${deploymentId}`}>
          <span className={styles.breaker}>
            <Link to="/agents" search={{ id: agentId }}>
              <code>{`${agentId}/${deploymentId}`}</code>
            </Link>
            <Breaker state={breaker} />
          </span>
          <div className={styles.whole}>
            {openSince !== null && t('since', { time: moment(openSince) })}{' '}
            {reason !== null && <code>{reason}</code>}
          </div>
        </li>
      ))}
    </ul>
  )
}
