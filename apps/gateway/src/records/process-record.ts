import Type, { type Static } from 'typebox'
import type { Reload } from '#core/configuration/configurations.ts'
import { CONFIGURATION_STATES, type ProcessConfiguration } from '#core/ledger/configuration-state.ts'
import { PROCESS_CONCERNS } from '#core/ledger/process-concerns.ts'
import { type GatewayProcess, PROCESS_STATES, type ProcessBreaker } from '#core/ledger/process-list.ts'
import { PROCESS_DESCRIPTIONS } from '#http/descriptions/process-descriptions.ts'
import { nullable, oneOf, ref, Timestamp, timestamp, uuid } from '#http/response/schemas.ts'

const BREAKER_EXAMPLE = {
  agent: 'fastgpt',
  deployment: 'eu',
  breaker: 'open',
  open_since: '2026-11-20T08:29:00.000Z',
  reason: 'agent_unreachable',
} as const

export const GatewayProcessSchema = Type.Object(
  {
    id: uuid(PROCESS_DESCRIPTIONS.id),
    host: nullable(Type.String(), PROCESS_DESCRIPTIONS.host),
    pid: nullable(Type.Integer(), PROCESS_DESCRIPTIONS.pid),
    port: nullable(Type.Integer(), PROCESS_DESCRIPTIONS.port),
    version: nullable(Type.String(), PROCESS_DESCRIPTIONS.version),
    build: Type.String({ description: PROCESS_DESCRIPTIONS.build }),
    state: oneOf(PROCESS_STATES, statesOf(PROCESS_DESCRIPTIONS.state, PROCESS_STATES)),
    started_at: timestamp(PROCESS_DESCRIPTIONS.startedAt),
    last_seen_at: timestamp(PROCESS_DESCRIPTIONS.lastSeenAt),
    stopped_at: nullable(Timestamp, PROCESS_DESCRIPTIONS.stoppedAt),
    calls_in_flight: nullable(Type.Integer({ minimum: 0 }), PROCESS_DESCRIPTIONS.inFlight),
    breakers: Type.Array(
      Type.Object(
        {
          agent: Type.String({ description: PROCESS_DESCRIPTIONS.breakerAgent }),
          deployment: Type.String({ description: PROCESS_DESCRIPTIONS.breakerDeployment }),
          breaker: oneOf(['half_open', 'open'], PROCESS_DESCRIPTIONS.breakerState),
          open_since: nullable(Timestamp, PROCESS_DESCRIPTIONS.openSince),
          reason: nullable(Type.String(), PROCESS_DESCRIPTIONS.reason),
        },
        { description: PROCESS_DESCRIPTIONS.breaker },
      ),
      { description: PROCESS_DESCRIPTIONS.breakers },
    ),
    configuration: nullable(
      Type.Object({
        state: oneOf(
          CONFIGURATION_STATES,
          statesOf(PROCESS_DESCRIPTIONS.configurationState, CONFIGURATION_STATES),
        ),
        number: Type.Integer({ minimum: 0, description: PROCESS_DESCRIPTIONS.number }),
        fingerprint: Type.String({ description: PROCESS_DESCRIPTIONS.fingerprint }),
        since: timestamp(PROCESS_DESCRIPTIONS.since),
        needs_restart: Type.Array(Type.String(), { description: PROCESS_DESCRIPTIONS.needsRestart }),
        error: nullable(Type.String(), PROCESS_DESCRIPTIONS.configurationError),
      }),
      PROCESS_DESCRIPTIONS.configuration,
    ),
    concerns: Type.Array(
      Type.Object(
        {
          concern: oneOf(PROCESS_CONCERNS, statesOf(PROCESS_DESCRIPTIONS.concernKind, PROCESS_CONCERNS)),
          cause: nullable(Type.String(), PROCESS_DESCRIPTIONS.concernCause),
          since: timestamp(PROCESS_DESCRIPTIONS.concernSince),
          count: nullable(Type.Integer({ minimum: 0 }), PROCESS_DESCRIPTIONS.concernCount),
          blocked_by: nullable(Type.String(), PROCESS_DESCRIPTIONS.blockedBy),
        },
        { description: PROCESS_DESCRIPTIONS.concern },
      ),
      { description: PROCESS_DESCRIPTIONS.concerns },
    ),
  },
  {
    $id: 'GatewayProcess',
    description: PROCESS_DESCRIPTIONS.resource,
    examples: [
      {
        id: '019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10',
        host: 'gateway-1',
        pid: 17,
        port: 3000,
        version: '1.4.0',
        build: '20261125170333_audit_signing_keys',
        state: 'live',
        started_at: '2026-11-20T08:00:00.000Z',
        last_seen_at: '2026-11-20T08:30:00.000Z',
        stopped_at: null,
        calls_in_flight: 3,
        breakers: [BREAKER_EXAMPLE],
        configuration: {
          state: 'current',
          number: 4,
          fingerprint: '9c1f0b6f7a10e4d2',
          since: '2026-11-20T08:20:00.000Z',
          needs_restart: [],
          error: null,
        },
        concerns: [
          {
            concern: 'ledger_behind',
            cause: null,
            since: '2026-11-20T08:29:10.000Z',
            count: 12,
            blocked_by:
              'process 4711 (psql, idle in transaction, its transaction open since 2026-11-20T08:29:08Z)',
          },
        ],
      },
    ],
  },
)

/** The description of a state, with that of each of its values. */
function statesOf(what: string, states: readonly (keyof typeof PROCESS_DESCRIPTIONS)[]): string {
  const each = states.map((state) => `\`${state}\`: ${uncapitalized(PROCESS_DESCRIPTIONS[state])}`)
  return [what, ...each].join(' ')
}

function uncapitalized(sentence: string): string {
  return sentence.charAt(0).toLowerCase() + sentence.slice(1)
}

/** A process as REST and the command line write it. */
export function processRecord(process: GatewayProcess): Static<typeof GatewayProcessSchema> {
  return {
    id: process.id,
    host: process.host,
    pid: process.pid,
    port: process.port,
    version: process.version,
    build: process.build,
    state: process.state,
    started_at: process.startedAt.toISOString(),
    last_seen_at: process.lastSeenAt.toISOString(),
    stopped_at: process.stoppedAt?.toISOString() ?? null,
    calls_in_flight: process.inFlight,
    breakers: process.breakers.map(breakerRecord),
    configuration: process.configuration === null ? null : configurationRecord(process.configuration),
    concerns: process.concerns.map(({ since, blockedBy, ...concern }) => ({
      ...concern,
      since: since.toISOString(),
      blocked_by: blockedBy,
    })),
  }
}

function configurationRecord({
  state,
  number,
  fingerprint,
  since,
  needsRestart,
  error,
}: ProcessConfiguration) {
  return { state, number, fingerprint, since: since.toISOString(), needs_restart: [...needsRestart], error }
}

function breakerRecord({ agent, deployment, breaker, openSince, reason }: ProcessBreaker) {
  return { agent, deployment, breaker, open_since: openSince?.toISOString() ?? null, reason }
}

export const ReloadSchema = Type.Object(
  {
    number: Type.Integer({ minimum: 1, description: 'The number of the reload.' }),
    changed: Type.Array(Type.String(), {
      description:
        'What is different now, as places in the file: an agent as a whole, and each of the limits. Empty if the file is as before.',
    }),
    needs_restart: Type.Array(Type.String(), {
      description: PROCESS_DESCRIPTIONS.needsRestart,
    }),
    processes: Type.Array(ref(GatewayProcessSchema), {
      description: 'The processes that live, with what they serve now.',
    }),
  },
  {
    $id: 'Reload',
    description: 'A reload of the configuration.',
    examples: [
      {
        number: 4,
        changed: ['agents.support', 'limits.chat.points'],
        needs_restart: ['uploads.maxBytes'],
        processes: [],
      },
    ],
  },
)

/** A reload as REST and the command line write it. */
export function reloadRecord({
  number,
  changed,
  needsRestart,
  processes,
}: Reload): Static<typeof ReloadSchema> {
  return {
    number,
    changed: [...changed],
    needs_restart: [...needsRestart],
    processes: processes.map(processRecord),
  }
}
