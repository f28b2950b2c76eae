import { Link } from '@tanstack/react-router'
import { useTranslations } from 'use-intl'
import { useFormats } from '../../format/use-formats.ts'
import { ListTable } from '../../lists/list-table.tsx'
import { Breaker } from '../../ui/breaker.tsx'
import { nameOf } from '../processes/lost.ts'
import type { Deployment } from './agent.ts'
import { Reason } from './reason.tsx'

interface ProcessTableProps {
  readonly label: string
  readonly processes: Deployment['processes']
  /** Whether the platform answers probes. */
  readonly isAnswering: boolean
}

/** What each process of the gateway knows of a deployment. */
export function ProcessTable({ label, processes, isAnswering }: ProcessTableProps) {
  const t = useTranslations('agents.deployments')
  const { moment, count } = useFormats()
  return (
    <ListTable
      label={label}
      rows={processes}
      keyOf={({ instanceId }) => instanceId}
      columns={[
        {
          head: t('host'),
          cell: ({ instanceId: id, host, pid }) => (
            <Link to="/processes" search={{ id }} title={id}>
              {nameOf({ id, host, pid })}
            </Link>
          ),
        },
        { head: t('version'), cell: ({ version }) => version },
        {
          head: t('use'),
          cell: ({ breaker, openSince, reason }) => (
            <>
              <Breaker state={breaker} isAnswering={isAnswering} />
              {openSince != null && <div>{t('since', { time: moment(openSince) })}</div>}
              {reason != null && <Reason reason={reason} />}
            </>
          ),
        },
        { head: t('inFlight'), kind: 'numeric', cell: ({ callsInFlight }) => count(callsInFlight) },
      ]}
    />
  )
}
