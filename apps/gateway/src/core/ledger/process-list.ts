import type { BreakerState } from '#core/agents/deployments/load.ts'
import { readLoad } from '#core/agents/deployments/written-load.ts'
import type { Sql } from '#core/database/database.ts'
import { requireOneOf } from '#core/requests/input/input-rules.ts'
import { type Principal, requireAdmin } from '#core/requests/principal.ts'
import {
  CONFIGURATION_STATE,
  type ProcessConfiguration,
  ROLLED_OUT_WITHIN_MS,
  toldConfiguration,
  WANTED_CONFIGURATION,
  wantedConfiguration,
} from './configuration-state.ts'
import { type ProcessConcern, readConcerns } from './process-concerns.ts'

/** Whether a process serves requests, has left, or has not renewed its lease. */
export const PROCESS_STATES = ['live', 'stopped', 'lost'] as const
export type ProcessState = (typeof PROCESS_STATES)[number]

/** Which processes to list: those that are live, or those that are not any more. */
export const PROCESS_FILTERS = ['live', 'ended'] as const

/** A process of the gateway, also one that has ended, until its row is past `instance.retentionDays`. */
export interface GatewayProcess {
  readonly id: string
  /** Where it runs and its version; null for a process of a version that did not write them. */
  readonly host: string | null
  readonly pid: number | null
  /** The port on which it serves requests; null for a process of a version that did not write it. */
  readonly port: number | null
  readonly version: string | null
  /** The newest migration that it knows. */
  readonly build: string
  readonly startedAt: Date
  /** Its last heartbeat, by the database's clock. */
  readonly lastSeenAt: Date
  readonly stoppedAt: Date | null
  readonly state: ProcessState
  /** Chats in progress as of the last heartbeat; null if it is not live, and for a process of a version that did not write them. */
  readonly callsInFlight: number | null
  /** What it thought of the deployments that did not simply serve calls, as of the last heartbeat; empty if it is not live. */
  readonly breakers: readonly ProcessBreaker[]
  /** What it serves; null if it is not live, and for a process of a version that did not write it. */
  readonly configuration: ProcessConfiguration | null
  /** What is wrong with it, as of the last heartbeat; empty if it is not live. */
  readonly concerns: readonly ProcessConcern[]
}

export interface ProcessBreaker {
  readonly agent: string
  readonly deployment: string
  readonly breaker: Exclude<BreakerState, 'closed'>
  readonly openSince: Date | null
  /** Why it is open: a word of the table of errors. */
  readonly reason: string | null
}

/** The processes that share the database, for administrators. */
export interface Processes {
  /**
   * The processes, first those that are live, and of these those that started last; at most a thousand.
   *
   * @throws Problem `permission_denied`, `role_denied`, `invalid_request`
   */
  list(caller: Principal, filter?: { readonly state?: string | undefined }): Promise<GatewayProcess[]>
}

export interface ProcessesDeps {
  readonly sql: Sql
  /** How long a heartbeat holds. Every process is taken to have the same. */
  readonly leaseMs: number
}

export function createProcesses({ sql, leaseMs }: ProcessesDeps): Processes {
  return {
    async list(caller, { state } = {}) {
      requireAdmin(caller)
      requireOneOf(['state'], PROCESS_FILTERS, state)
      const isLive = state === undefined ? null : state === 'live'
      const rows = await sql.query<Row>(LIST, [
        leaseMs,
        isLive,
        PROCESSES_MAX,
        WANTED_CONFIGURATION,
        ROLLED_OUT_WITHIN_MS,
      ])
      return rows.map(processOf)
    },
  }
}

/** The most processes that are listed: more than share a database in a month of deployments. */
const PROCESSES_MAX = 1_000

/**
 * `$1`: the lease in milliseconds, `$2`: whether only live or only other ones are listed, `$3` rows at most, `$4`: the setting that
 * says which configuration they should serve, `$5`: how long they may take to.
 */
const LIST = `
WITH ${wantedConfiguration('$4', '$5')}
SELECT id, host, pid, port, version, build, started_at, stopped_at, load, configuration, concerns,
  coalesce(stopped_at, greatest(started_at, lease_until - $1 * interval '1 millisecond')) AS last_seen_at,
  CASE WHEN stopped_at IS NOT NULL THEN 'stopped' WHEN lease_until > now() THEN 'live' ELSE 'lost' END AS state,
  ${CONFIGURATION_STATE} AS configuration_state
FROM instances
WHERE $2::boolean IS NULL OR $2::boolean = (stopped_at IS NULL AND lease_until > now())
ORDER BY (stopped_at IS NULL AND lease_until > now()) DESC, started_at DESC, id
LIMIT $3`

interface Row extends Pick<GatewayProcess, 'id' | 'host' | 'pid' | 'port' | 'version' | 'build' | 'state'> {
  readonly started_at: Date
  readonly stopped_at: Date | null
  readonly last_seen_at: Date
  readonly load: unknown
  readonly configuration: unknown
  readonly concerns: unknown
  readonly configuration_state: ProcessConfiguration['state'] | null
}

function configurationOf({ state, configuration, configuration_state }: Row): ProcessConfiguration | null {
  const told = state === 'live' ? toldConfiguration(configuration) : undefined
  if (told === undefined) return null
  const { since, error = null } = told
  return { ...told, since: new Date(since), error, state: configuration_state ?? 'current' }
}

function processOf(stored: Row): GatewayProcess {
  const {
    started_at,
    stopped_at,
    last_seen_at,
    load,
    concerns,
    configuration: _,
    configuration_state,
    ...row
  } = stored
  const agents = row.state === 'live' && load !== null ? readLoad(load) : undefined
  return {
    ...row,
    startedAt: started_at,
    stoppedAt: stopped_at,
    lastSeenAt: last_seen_at,
    configuration: configurationOf(stored),
    concerns: row.state === 'live' ? readConcerns(concerns) : [],
    callsInFlight: agents?.reduce((sum, { inFlight }) => sum + inFlight, 0) ?? null,
    breakers: (agents ?? []).flatMap(({ agent, deployments }) =>
      deployments.flatMap(({ id, breaker, openSince, reason }) =>
        breaker === 'closed'
          ? []
          : {
              agent,
              deployment: id,
              breaker,
              openSince: openSince === undefined ? null : new Date(openSince),
              reason: reason ?? null,
            },
      ),
    ),
  }
}
