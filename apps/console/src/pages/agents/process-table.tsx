import { Link } from '@tanstack/react-router'
import { useTranslations } from 'use-intl'
import { useFormats } from '../../format/use-formats.ts'
import { Breaker } from '../../ui/breaker.tsx'
import { numeric, Table } from '../../ui/table.tsx'
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
  return (
    <Table label={label}>
      <thead>
        <tr>
          <th scope="col">{t('host')}</th>
          <th scope="col">{t('pid')}</th>
          <th scope="col">{t('version')}</th>
          <th scope="col">{t('use')}</th>
          <th scope="col" className={numeric}>
            {t('inFlight')}
          </th>
        </tr>
      </thead>
      <tbody>
        {processes.map((process) => (
          <ProcessRow key={process.instanceId} process={process} isAnswering={isAnswering} />
        ))}
      </tbody>
    </Table>
  )
}

interface ProcessRowProps extends Pick<ProcessTableProps, 'isAnswering'> {
  readonly process: ProcessTableProps['processes'][number]
}

function ProcessRow({ process, isAnswering }: ProcessRowProps) {
  const t = useTranslations('agents.deployments')
  const formats = useFormats()
  const { instanceId, host, pid, version, openSince, reason } = process
  return (
    <tr title={instanceId}>
      <th scope="row">
        <Link to="/processes" search={{ id: instanceId }}>
          {host ?? instanceId}
        </Link>
      </th>
      <td>{pid ?? '–'}</td>
      <td>{version ?? '–'}</td>
      <td>
        <Breaker state={process.breaker} isAnswering={isAnswering} />
        {openSince != null && <div>{t('since', { time: formats.moment(openSince) })}</div>}
        {reason != null && <Reason reason={reason} />}
      </td>
      <td className={numeric}>{formats.count(process.callsInFlight)}</td>
    </tr>
  )
}
