import type { DeploymentProcess, DeploymentRecord } from '#core/agents/deployments/describe-deployments.ts'
import { defineResource } from './define/define-resource.ts'
import {
  count,
  flag,
  id,
  integer,
  localId,
  nullable,
  number,
  objects,
  text,
  time,
  words,
} from './define/fields.ts'
import { AGENT_STATUS, BREAKER_STATE } from './deployment-words.ts'

const PROCESS = defineResource<DeploymentProcess>()(
  'DeploymentProcess',
  'What a process of the gateway knows of a deployment.',
  {
    instanceId: id('The id of the process, which all of its log lines have.'),
    host: nullable(text('The name of its machine.')),
    pid: nullable(integer('Its process id on that machine.')),
    version: nullable(text('Its version.')),
    breaker: words(BREAKER_STATE, 'Whether the process sends calls to the deployment.'),
    callsInFlight: count('Its calls in progress at the deployment.'),
    openSince: nullable(time('When the process stopped sending calls there; null if it sends them.')),
    reason: nullable(text('Why, as the stable word of an error; null if it sends them.')),
  },
)

export const AGENT_DEPLOYMENT = defineResource<DeploymentRecord>()(
  'AgentDeployment',
  'A deployment of an agent: one platform, or one key of it, that answers for the agent. Shown only to administrators.',
  {
    id: localId(
      'The id of the deployment, unique within its agent; `main` where the configuration lists none.',
    ),
    weight: number('Its share of the new conversations among the deployments of its priority.', 0),
    priority: integer('The lowest priority that can serve a call is chosen.'),
    state: text(
      'The name of what the platform stores for it. Conversations and files may move between deployments of the same state.',
    ),
    disabled: flag('Whether it takes no new conversations and only serves those that it has.'),
    status: words(AGENT_STATUS, 'What a probe of the platform said some seconds ago.'),
    statusSince: nullable(
      time(
        'Since when the probes of this process have not found it `available`; null if it is. Probes are sent only when the status is requested.',
      ),
    ),
    statusReason: nullable(
      text(
        'Why the probe failed, as the stable word of an error; null if it did not, or if the platform is only busy.',
      ),
    ),
    probeMs: count('How long the probe took, in milliseconds.'),
    breaker: words(BREAKER_STATE, 'The worst state among the processes.'),
    callsInFlight: count('The calls in progress of all processes.'),
    processes: objects(
      PROCESS,
      'The live processes of the gateway that serve the deployment. Of the others than the one that answers, what is shown is up to ten seconds old.',
    ),
  },
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
    processes: [
      {
        instance_id: '019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10',
        host: 'gateway-1',
        pid: 17,
        version: '1.4.0',
        breaker: 'closed',
        calls_in_flight: 3,
        open_since: null,
        reason: null,
      },
    ],
  },
)
