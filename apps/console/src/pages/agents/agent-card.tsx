import { Link } from '@tanstack/react-router'
import { MessagesSquare } from 'lucide-react'
import { useId } from 'react'
import { useTranslations } from 'use-intl'
import { useFormats } from '../../format/use-formats.ts'
import { Badge } from '../../ui/badge.tsx'
import { buttonClass } from '../../ui/button.tsx'
import type { Agent } from './agent.ts'
import { AgentStatus } from './agent-status.tsx'
import styles from './agents-page.module.css'
import { Deployments } from './deployments.tsx'
import { Reason } from './reason.tsx'

const FEATURES = ['stream', 'detail', 'files', 'conversation', 'usage', 'stop'] as const

export function AgentCard({ agent }: { readonly agent: Agent }) {
  const t = useTranslations('agents')
  const id = useId()
  const features = FEATURES.filter((feature) => agent.features[feature])
  return (
    <li className={styles.card} aria-labelledby={id}>
      <header className={styles.header}>
        <h2 id={id}>{agent.name}</h2>
        <AgentStatus status={agent.status} />
      </header>
      <AgentTrouble agent={agent} />
      {agent.description !== '' && <p className={styles.description}>{agent.description}</p>}
      <dl className={styles.record}>
        <dt>{t('id')}</dt>
        <dd>
          <code>{agent.id}</code>
          {agent.sandbox && <Badge>{t('sandbox')}</Badge>}
        </dd>
        <dt>{t('platform')}</dt>
        <dd>{agent.platform}</dd>
        <dt>{t('requires')}</dt>
        <dd>
          {agent.requires.length === 0
            ? t('requiresNothing')
            : agent.requires.map((field) => <code key={field}>{nameInRest(field)}</code>)}
        </dd>
        <dt>{t('apps')}</dt>
        <dd>
          {agent.apps.length === 0
            ? t('noApps')
            : agent.apps.map((app) => (
                <span key={app.appId} title={app.appId}>
                  {app.name}
                </span>
              ))}
        </dd>
      </dl>
      <ul className={styles.features} aria-label={t('features')}>
        {features.map((feature) => (
          <li key={feature}>
            <Badge>{t(`feature.${feature}`)}</Badge>
          </li>
        ))}
      </ul>
      {agent.deployments != null && <Deployments agent={agent} deployments={agent.deployments} />}
      <p className={styles.records}>
        <Link to="/calls" search={{ agent: agent.id, range: '24h' }}>
          {t('callsOfDay')}
        </Link>
        <Link to="/calls" search={{ agent: agent.id, range: '24h', outcome: 'FAILED' }}>
          {t('failuresOfDay')}
        </Link>
        <Link to="/usage" search={{ agent: agent.id }}>
          {t('usage')}
        </Link>
      </p>
      <Link className={buttonClass('plain', styles.ask)} to="/playground/$id" params={{ id: agent.id }}>
        <MessagesSquare aria-hidden />
        {t('ask', { name: agent.name })}
      </Link>
    </li>
  )
}

/** GraphQL has `appId` for what is `app_id` in a chat over HTTP, in which most programs meet it. */
const nameInRest = (field: string): string => field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** Since when an agent cannot serve all calls, and why, as far as calls and probes have shown it. */
function AgentTrouble({ agent }: { readonly agent: Agent }) {
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
