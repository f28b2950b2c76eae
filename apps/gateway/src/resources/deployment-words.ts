import { BREAKER_STATES } from '#core/agents/deployments/load.ts'
import { closed } from './vocabulary.ts'

export const BREAKER_STATE = closed(
  'BreakerState',
  BREAKER_STATES,
  'Whether the gateway sends calls to a deployment, after what earlier calls met there.',
  {
    closed: 'It does.',
    half_open: 'One call tries whether it works again; others are not sent there.',
    open: 'It does not, because too many calls failed.',
  },
)
