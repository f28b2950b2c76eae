import { Link } from '@tanstack/react-router'
import { useTranslations } from 'use-intl'
import { useFormats } from '../../format/use-formats.ts'
import type { GatewayProcessState, ProcessConfigurationState } from '../../generated/graphql.ts'
import { second } from '../../lists/list-table.tsx'
import { RowTable } from '../../lists/row-table.tsx'
import { Badge, type Tone } from '../../ui/badge.tsx'
import { Breaker } from '../../ui/breaker.tsx'
import { nameOf } from './lost.ts'
import styles from './processes.module.css'
import { type Process, versionsOf } from './versions-of.ts'

interface ProcessesTableProps {
  readonly processes: readonly Process[]
  /** The one to which a link leads. */
  readonly chosen: string | undefined
}

export function ProcessesTable({ processes, chosen }: ProcessesTableProps) {
  const t = useTranslations('processes')
  /** The version that most processes run. */
  const usual = versionsOf(processes)[0]?.version
  return (
    <RowTable
      of="processes"
      rows={processes}
      keyOf={({ id }) => id}
      isChosen={({ id }) => id === chosen}
      within={['id']}
      columns={{
        host: (process) => (
          <>
            {nameOf(process)}
            <code className={second}>{process.id}</code>
          </>
        ),
        state: {
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
        version: ({ version, build, state }) => (
          <span title={t('buildHint', { build })}>
            {state === 'LIVE' && version !== usual ? (
              <Badge tone="warn">{version ?? t('unknownVersion')}</Badge>
            ) : (
              (version ?? '–')
            )}
          </span>
        ),
        callsInFlight: { head: t('calls') },
        breakers: ({ breakers }) => (breakers.length === 0 ? null : <OpenBreakers breakers={breakers} />),
        configuration: ({ configuration }) =>
          configuration === null ? null : <Configuration {...configuration} />,
        startedAt: {},
        lastSeenAt: {},
      }}
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

/** What is wrong with a process: since when and how much, and for whom its statements wait. */
function ProcessConcerns({ concerns }: Pick<Process, 'concerns'>) {
  const t = useTranslations('processes')
  const { short } = useFormats()
  const holder = concerns.find(({ blockedBy }) => blockedBy !== null)?.blockedBy
  return (
    <>
      {concerns.map(({ concern, cause, since, count }) => (
        <div key={`${concern} ${cause}`} className={styles.concern}>
          {t(`concerns.${concern}`, { count: count ?? 0, cause: cause ?? '', time: short(since) })}
        </div>
      ))}
      {holder != null && <div className={styles.concern}>{t('blockedBy', { holder })}</div>}
    </>
  )
}

/** The deployments to which a process does not send calls as usual, and why. */
function OpenBreakers({ breakers }: Pick<Process, 'breakers'>) {
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
