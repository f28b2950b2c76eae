import Type, { type Static } from 'typebox'
import type { DeploymentProcess, DeploymentRecord } from '#core/agents/deployments/describe-deployments.ts'
import { BREAKER_STATES } from '#core/agents/deployments/load.ts'
import { AGENT_STATUSES } from '#core/agents/deployments/probes.ts'
import { DEPLOYMENT_DESCRIPTIONS } from '#http/descriptions/deployment-descriptions.ts'
import { nullable, oneOf, Timestamp, uuid } from '#http/response/schemas.ts'

const EXAMPLE_PROCESS = {
  instance_id: '019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10',
  host: 'gateway-1',
  pid: 17,
  version: '1.4.0',
  breaker: 'closed',
  calls_in_flight: 3,
  open_since: null,
  reason: null,
} as const

export const AgentDeploymentSchema = Type.Object(
  {
    id: Type.String({ description: DEPLOYMENT_DESCRIPTIONS.id }),
    weight: Type.Number({ minimum: 0, description: DEPLOYMENT_DESCRIPTIONS.weight }),
    priority: Type.Integer({ description: DEPLOYMENT_DESCRIPTIONS.priority }),
    state: Type.String({ description: DEPLOYMENT_DESCRIPTIONS.state }),
    disabled: Type.Boolean({ description: DEPLOYMENT_DESCRIPTIONS.disabled }),
    status: oneOf(AGENT_STATUSES, DEPLOYMENT_DESCRIPTIONS.status),
    status_since: nullable(Timestamp, DEPLOYMENT_DESCRIPTIONS.statusSince),
    status_reason: nullable(Type.String(), DEPLOYMENT_DESCRIPTIONS.statusReason),
    probe_ms: Type.Integer({ minimum: 0, description: DEPLOYMENT_DESCRIPTIONS.probeMs }),
    breaker: oneOf(BREAKER_STATES, DEPLOYMENT_DESCRIPTIONS.breaker),
    calls_in_flight: Type.Integer({ minimum: 0, description: DEPLOYMENT_DESCRIPTIONS.inFlight }),
    processes: Type.Array(
      Type.Object(
        {
          instance_id: uuid(DEPLOYMENT_DESCRIPTIONS.instanceId),
          host: nullable(Type.String(), DEPLOYMENT_DESCRIPTIONS.host),
          pid: nullable(Type.Integer(), DEPLOYMENT_DESCRIPTIONS.pid),
          version: nullable(Type.String(), DEPLOYMENT_DESCRIPTIONS.version),
          breaker: oneOf(BREAKER_STATES, DEPLOYMENT_DESCRIPTIONS.breakerOfProcess),
          calls_in_flight: Type.Integer({
            minimum: 0,
            description: DEPLOYMENT_DESCRIPTIONS.inFlightOfProcess,
          }),
          open_since: nullable(Timestamp, DEPLOYMENT_DESCRIPTIONS.openSince),
          reason: nullable(Type.String(), DEPLOYMENT_DESCRIPTIONS.reason),
        },
        { description: DEPLOYMENT_DESCRIPTIONS.process },
      ),
      { description: DEPLOYMENT_DESCRIPTIONS.processes },
    ),
  },
  {
    $id: 'AgentDeployment',
    description: DEPLOYMENT_DESCRIPTIONS.resource,
    examples: [
      {
        id: 'eu',
        weight: 3,
        priority: 0,
        state: 'shared',
        disabled: false,
        status: 'available',
        status_since: null,
        status_reason: null,
        probe_ms: 41,
        breaker: 'closed',
        calls_in_flight: 3,
        processes: [EXAMPLE_PROCESS],
      },
    ],
  },
)

/** A deployment as REST and the command line write it. */
export function deploymentRecord({
  id,
  weight,
  priority,
  state,
  disabled,
  probe,
  breaker,
  inFlight,
  processes,
}: DeploymentRecord): Static<typeof AgentDeploymentSchema> {
  return {
    id,
    weight,
    priority,
    state,
    disabled,
    status: probe.status,
    status_since: timeOf(probe.since),
    status_reason: probe.reason ?? null,
    probe_ms: probe.ms,
    breaker,
    calls_in_flight: inFlight,
    processes: processes.map(processRecord),
  }
}

function processRecord({ instance, host, pid, version, breaker, inFlight, ...open }: DeploymentProcess) {
  return {
    instance_id: instance,
    host,
    pid,
    version,
    breaker,
    calls_in_flight: inFlight,
    open_since: timeOf(open.openSince),
    reason: open.reason ?? null,
  }
}

function timeOf(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString()
}
