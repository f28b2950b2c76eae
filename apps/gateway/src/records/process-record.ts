import Type, { type Static } from 'typebox'
import { type GatewayProcess, PROCESS_STATES, type ProcessBreaker } from '#core/ledger/process-list.ts'
import { PROCESS_DESCRIPTIONS } from '#http/descriptions/process-descriptions.ts'
import { nullable, oneOf, Timestamp, timestamp, uuid } from '#http/response/schemas.ts'

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
    version: nullable(Type.String(), PROCESS_DESCRIPTIONS.version),
    build: Type.String({ description: PROCESS_DESCRIPTIONS.build }),
    state: oneOf(
      PROCESS_STATES,
      `${PROCESS_DESCRIPTIONS.state} \`live\`: ${uncapitalized(PROCESS_DESCRIPTIONS.live)} \`stopped\`: ${uncapitalized(PROCESS_DESCRIPTIONS.stopped)} \`lost\`: ${uncapitalized(PROCESS_DESCRIPTIONS.lost)}`,
    ),
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
  },
  {
    $id: 'GatewayProcess',
    description: PROCESS_DESCRIPTIONS.resource,
    examples: [
      {
        id: '019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10',
        host: 'gateway-1',
        pid: 17,
        version: '1.4.0',
        build: '20261125170333_audit_signing_keys',
        state: 'live',
        started_at: '2026-11-20T08:00:00.000Z',
        last_seen_at: '2026-11-20T08:30:00.000Z',
        stopped_at: null,
        calls_in_flight: 3,
        breakers: [BREAKER_EXAMPLE],
      },
    ],
  },
)

function uncapitalized(sentence: string): string {
  return sentence.charAt(0).toLowerCase() + sentence.slice(1)
}

/** A process as REST and the command line write it. */
export function processRecord(process: GatewayProcess): Static<typeof GatewayProcessSchema> {
  return {
    id: process.id,
    host: process.host,
    pid: process.pid,
    version: process.version,
    build: process.build,
    state: process.state,
    started_at: process.startedAt.toISOString(),
    last_seen_at: process.lastSeenAt.toISOString(),
    stopped_at: process.stoppedAt?.toISOString() ?? null,
    calls_in_flight: process.inFlight,
    breakers: process.breakers.map(breakerRecord),
  }
}

function breakerRecord({ agent, deployment, breaker, openSince, reason }: ProcessBreaker) {
  return { agent, deployment, breaker, open_since: openSince?.toISOString() ?? null, reason }
}
