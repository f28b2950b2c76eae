/** A deployment of an agent, which only administrators see. */
export const DEPLOYMENT_DESCRIPTIONS = {
  resource:
    'A deployment of an agent: one platform, or one key of it, that answers for the agent. Shown only to administrators.',
  id: 'The id of the deployment, unique within its agent; `main` where the configuration lists none.',
  weight: 'Its share of the new conversations among the deployments of its priority.',
  priority: 'The lowest priority that can serve a call is chosen.',
  state:
    'The name of what the platform stores for it. Conversations and files may move between deployments of the same state.',
  disabled: 'Whether it takes no new conversations and only serves those that it has.',
  status:
    'What a probe of the platform said some seconds ago. `degraded` means that it answers, but is busy or refuses the credentials of the gateway.',
  probeMs: 'How long the probe took, in milliseconds.',
  statusSince:
    'Since when the probes of this process have not found it `available`; null if it is. Probes are sent only when the status is requested.',
  statusReason:
    'Why the probe failed, as the stable word of an error; null if it did not, or if the platform is only busy.',
  breaker:
    'The worst state among the processes: `closed` if calls go to the deployment, though those of an owner whose own calls fail there may be refused, `half_open` if one call tries it or the next one will, `open` if none do.',
  inFlight: 'The calls in progress of all processes.',
  processes:
    'The live processes of the gateway that serve the deployment. Of the others than the one that answers, what is shown is up to ten seconds old.',
  process: 'What a process of the gateway knows of a deployment.',
  instanceId: 'The id of the process, which all of its log lines have.',
  host: 'The name of its machine.',
  pid: 'Its process id on that machine.',
  version: 'Its version.',
  breakerOfProcess:
    'Whether the process sends calls to the deployment: `closed` if it does, though those of an owner whose own calls fail there may be refused, `half_open` if one call tries it or the next one will, `open` if it does not.',
  inFlightOfProcess: 'Its calls in progress at the deployment.',
  openSince: 'When the process stopped sending calls there; null if it sends them.',
  reason: 'Why, as the stable word of an error; null if it sends them.',
} as const
