import { useEffect, useRef } from 'react'
import { useTranslations } from 'use-intl'
import { useFormats } from '../../format/use-formats.ts'
import type { GatewayProcessState } from '../../generated/graphql.ts'
import { Badge, type Tone } from '../../ui/badge.tsx'
import { numeric, Table, time } from '../../ui/table.tsx'
import { OpenBreakers } from './open-breakers.tsx'
import styles from './processes.module.css'
import { type Process, versionsOf } from './versions-of.ts'

interface ProcessesTableProps {
  readonly processes: readonly Process[]
  /** The one to which a link leads. */
  readonly chosen: string | undefined
}

export function ProcessesTable({ processes, chosen }: ProcessesTableProps) {
  const t = useTranslations('processes')
  const [usual] = versionsOf(processes)
  return (
    <Table label={t('title')}>
      <thead>
        <tr>
          <th scope="col">{t('host')}</th>
          <th scope="col">{t('pid')}</th>
          <th scope="col">{t('state')}</th>
          <th scope="col">{t('version')}</th>
          <th scope="col" className={numeric}>
            {t('calls')}
          </th>
          <th scope="col">{t('breakers')}</th>
          <th scope="col">{t('startedAt')}</th>
          <th scope="col">{t('lastSeenAt')}</th>
        </tr>
      </thead>
      <tbody>
        {processes.map((process) => (
          <ProcessRow
            key={process.id}
            process={process}
            isChosen={process.id === chosen}
            isOtherVersion={process.state === 'LIVE' && process.version !== usual?.version}
          />
        ))}
      </tbody>
    </Table>
  )
}

const TONES: Record<GatewayProcessState, Tone> = { LIVE: 'ok', STOPPED: 'neutral', LOST: 'danger' }

interface ProcessRowProps {
  readonly process: Process
  readonly isChosen: boolean
  /** Whether it runs another version than most. */
  readonly isOtherVersion: boolean
}

function ProcessRow({ process, isChosen, isOtherVersion }: ProcessRowProps) {
  const t = useTranslations('processes')
  const formats = useFormats()
  const row = useRef<HTMLTableRowElement>(null)
  useEffect(() => {
    if (isChosen) row.current?.scrollIntoView({ block: 'center' })
  }, [isChosen])
  const { id, host, pid, version, build, state, startedAt, lastSeenAt, callsInFlight, breakers } = process
  return (
    <tr ref={row} className={isChosen ? styles.chosen : undefined} aria-current={isChosen || undefined}>
      <th scope="row">
        {host ?? '–'}
        <code className={styles.id}>{id}</code>
      </th>
      <td>{pid ?? '–'}</td>
      <td>
        <span title={t(`states.${state}_HINT`)}>
          <Badge tone={TONES[state]}>{t(`states.${state}`)}</Badge>
        </span>
      </td>
      <td title={t('build', { build })}>
        {isOtherVersion ? <Badge tone="warn">{version ?? t('unknownVersion')}</Badge> : (version ?? '–')}
      </td>
      <td className={numeric}>{callsInFlight === null ? '–' : formats.count(callsInFlight)}</td>
      <td>{breakers.length === 0 ? '–' : <OpenBreakers breakers={breakers} />}</td>
      <td className={time}>{formats.dateTime(startedAt)}</td>
      <td className={time}>{formats.dateTime(lastSeenAt)}</td>
    </tr>
  )
}
