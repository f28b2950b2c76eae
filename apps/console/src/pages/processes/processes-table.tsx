import { useTranslations } from 'use-intl'
import { Moment } from '../../format/moment.tsx'
import { useFormats } from '../../format/use-formats.ts'
import { PROCESSES_FIELDS } from '../../generated/fields.ts'
import type { GatewayProcessState, ProcessConfigurationState } from '../../generated/graphql.ts'
import { ListTable, second } from '../../lists/list-table.tsx'
import { type Drawn, useColumns } from '../../lists/use-columns.tsx'
import { Badge, type Tone } from '../../ui/badge.tsx'
import { nameOf } from './lost.ts'
import { OpenBreakers } from './open-breakers.tsx'
import { ProcessConcerns } from './process-concerns.tsx'
import styles from './processes.module.css'
import { type Process, versionsOf } from './versions-of.ts'

interface ProcessesTableProps {
  readonly processes: readonly Process[]
  /** The one to which a link leads. */
  readonly chosen: string | undefined
}

export function ProcessesTable({ processes, chosen }: ProcessesTableProps) {
  const t = useTranslations('processes')
  const columns = useProcessColumns(versionsOf(processes)[0]?.version)
  return (
    <ListTable
      label={t('title')}
      name="processes"
      columns={columns}
      rows={processes}
      keyOf={({ id }) => id}
      isChosen={({ id }) => id === chosen}
    />
  )
}

const TONES: Record<GatewayProcessState, Tone> = { LIVE: 'ok', STOPPED: 'neutral', LOST: 'danger' }
const CONFIGURATION_TONES: Record<ProcessConfigurationState, Tone> = {
  CURRENT: 'ok',
  PENDING: 'warn',
  DIFFERENT: 'danger',
}

/** Whether a process serves the configuration that was loaded last, and what is wrong with its file. */
function Configuration({ state, since, needsRestart, error }: NonNullable<Process['configuration']>) {
  const t = useTranslations('processes')
  const { moment } = useFormats()
  return (
    <>
      <span title={t('configurationSince', { time: moment(since) })}>
        <Badge tone={CONFIGURATION_TONES[state]}>{t(`configurationStates.${state}`)}</Badge>
      </span>
      {error !== null && <div className={styles.whole}>{error}</div>}
      {needsRestart.length > 0 && (
        <div className={styles.whole}>{t('needsRestart', { settings: needsRestart.join(', ') })}</div>
      )}
    </>
  )
}

/** @param usual - the version that most processes run */
function useProcessColumns(usual: string | null | undefined) {
  const t = useTranslations('processes')
  const { count } = useFormats()
  const drawn: Drawn<Process> = {
    host: {
      head: t('host'),
      cell: (process) => (
        <>
          {nameOf(process)}
          <code className={second}>{process.id}</code>
        </>
      ),
    },
    state: {
      head: t('state'),
      kind: 'state',
      cell: ({ state, concerns }) => (
        <>
          <span title={t(`states.${state}_HINT`)}>
            <Badge tone={TONES[state]}>{t(`states.${state}`)}</Badge>
          </span>
          <ProcessConcerns concerns={concerns} />
        </>
      ),
    },
    version: {
      head: t('version'),
      cell: ({ version, build, state }) => (
        <span title={t('build', { build })}>
          {state === 'LIVE' && version !== usual ? (
            <Badge tone="warn">{version ?? t('unknownVersion')}</Badge>
          ) : (
            (version ?? '–')
          )}
        </span>
      ),
    },
    calls: {
      head: t('calls'),
      kind: 'numeric',
      cell: ({ callsInFlight }) => (callsInFlight === null ? null : count(callsInFlight)),
    },
    breakers: {
      head: t('breakers'),
      cell: ({ breakers }) => (breakers.length === 0 ? null : <OpenBreakers breakers={breakers} />),
    },
    configuration: {
      head: t('configuration'),
      cell: ({ configuration }) => (configuration === null ? null : <Configuration {...configuration} />),
    },
    startedAt: { head: t('startedAt'), kind: 'time', cell: (process) => <Moment at={process.startedAt} /> },
    lastSeenAt: {
      head: t('lastSeenAt'),
      kind: 'time',
      cell: (process) => <Moment at={process.lastSeenAt} />,
    },
  }
  return useColumns('processes', PROCESSES_FIELDS, drawn, ['id', 'callsInFlight'])
}
