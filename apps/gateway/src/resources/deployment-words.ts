import { BREAKER_STATES } from '#core/agents/deployments/load.ts'
import { AGENT_STATUSES } from '#core/agents/deployments/probes.ts'
import { closed } from './define/vocabulary.ts'

export const AGENT_STATUS = closed(
  'AgentStatus',
  AGENT_STATUSES,
  'Whether calls can be served, as probes and calls of the last seconds showed.',
  {
    available: 'Calls can be served.',
    degraded:
      'A part of what serves the agent cannot serve calls, or a platform is busy or refuses the credentials of the gateway.',
    unavailable: 'No process of the gateway has a way to the agent, or the platform does not answer.',
  },
)

export const BREAKER_STATE = closed(
  'BreakerState',
  BREAKER_STATES,
  'Whether the gateway sends calls to a deployment, after what earlier calls met there.',
  {
    closed: 'Calls are sent there, though those of an owner whose own calls fail there may be refused.',
    half_open: 'One call tries whether it works again; others are not sent there.',
    open: 'No calls are sent there, because too many failed.',
  },
)
