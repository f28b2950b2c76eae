import { Link } from '@tanstack/react-router'
import { useId } from 'react'
import { useTranslations } from 'use-intl'
import { useFormats } from '../../format/use-formats.ts'
import { Badge } from '../../ui/badge.tsx'
import { Breaker } from '../../ui/breaker.tsx'
import { Disclosure } from '../../ui/disclosure.tsx'
import type { Agent, Deployment } from './agent.ts'
import { STATUS_TONES } from './agent-status.tsx'
import styles from './agents-page.module.css'
import { ProcessTable } from './process-table.tsx'
import { Reason } from './reason.tsx'

interface DeploymentsProps {
  readonly agent: Pick<Agent, 'id' | 'name'>
  readonly deployments: readonly Deployment[]
}

/** What answers for an agent, and how much it carries. Only administrators see it. */
export function Deployments({ agent, deployments }: DeploymentsProps) {
  const t = useTranslations('agents.deployments')
  const id = useId()
  return (
    <div className={styles.deployments}>
      <h2 id={id}>{t('title')}</h2>
      <ul aria-labelledby={id}>
        {deployments.map((deployment) => (
          <DeploymentItem
            key={deployment.deploymentId}
            agent={agent}
            deployment={deployment}
            isOnly={deployments.length === 1}
          />
        ))}
      </ul>
    </div>
  )
}

interface DeploymentItemProps extends Pick<DeploymentsProps, 'agent'> {
  readonly deployment: Deployment
  /** What troubles the only deployment is said of the agent already. */
  readonly isOnly: boolean
}

function DeploymentItem({ agent, deployment, isOnly }: DeploymentItemProps) {
  const t = useTranslations('agents.deployments')
  const { moment } = useFormats()
  const { deploymentId, status, probeMs, breaker, processes, statusSince, statusReason } = deployment
  const { state, weight, priority } = deployment
  const isAnswering = status !== 'UNAVAILABLE'
  return (
    <li className={styles.deployment}>
      <div className={styles.load}>
        <code>{deploymentId}</code>
        <span title={t(`probe.${status}_HINT`, { ms: probeMs })}>
          <Badge tone={STATUS_TONES[status]}>{t(`probe.${status}`)}</Badge>
        </span>
        <Breaker state={breaker} isAnswering={isAnswering} />
        {deployment.disabled && (
          <span title={t('disabledHint')}>
            <Badge>{t('disabled')}</Badge>
          </span>
        )}
        {deployment.callsInFlight === 0 ? (
          <span>{t('calls', { count: 0 })}</span>
        ) : (
          <Link to="/calls" search={{ agent: agent.id, outcome: 'RUNNING', range: '24h' }}>
            {t('calls', { count: deployment.callsInFlight })}
          </Link>
        )}
      </div>
      {!isOnly && statusSince != null && (
        <p className={styles.trouble}>
          <span>{t('since', { time: moment(statusSince) })}</span>
          {statusReason != null && <Reason reason={statusReason} />}
        </p>
      )}
      {!isAnswering && breaker === 'CLOSED' && statusSince != null && (
        <p className={styles.trouble}>{t('tried', { time: moment(statusSince) })}</p>
      )}
      {status === 'AVAILABLE' && breaker === 'OPEN' && <p className={styles.trouble}>{t('answersOnly')}</p>}
      <p className={styles.trouble}>{t('place', { state, weight, priority })}</p>
      {processes.length > 0 && (
        <Disclosure label={t('processes', { count: processes.length })}>
          <ProcessTable
            label={t('processesOf', { agent: agent.name, name: deploymentId })}
            processes={processes}
            isAnswering={isAnswering}
          />
        </Disclosure>
      )}
    </li>
  )
}
