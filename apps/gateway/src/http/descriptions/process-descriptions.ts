/** A process of the gateway, and the filters of processes. */
export const PROCESS_DESCRIPTIONS = {
  resource:
    'A process of the gateway that shares the database, or did until it ended. It is listed until it ended more than `instance.retentionDays` ago.',
  id: 'The id of the process, which all of its log lines have.',
  host: 'The name of its machine; null for an earlier version.',
  pid: 'Its process id on that machine; null for an earlier version.',
  version: 'Its version; null for an earlier one, which did not report it.',
  build: 'The newest migration of the database that it knows.',
  startedAt: 'When it started.',
  lastSeenAt:
    'The time of its last heartbeat, by the clock of the database; when it left, if it did. Live processes send one every few seconds.',
  stoppedAt: 'When it left; null while it lives, and if it ended without leaving.',
  state: 'Whether it lives.',
  live: 'It lives.',
  stopped: 'It has left.',
  lost: 'It has sent no heartbeat for `instance.leaseMs`: it was killed, hangs, or does not reach the database.',
  ended: 'It has left or is lost.',
  inFlight:
    'Its chats in progress at its last heartbeat; null if it is not live, and for an earlier version, which did not report them.',
  breakers: 'The deployments whose breaker was not closed at its last heartbeat; empty if it is not live.',
  breaker: 'The breaker of a deployment in one process, where it is not closed.',
  breakerAgent: 'The id of the agent.',
  breakerDeployment: 'The id of the deployment, unique within its agent.',
  breakerState: '`half_open` if one call tries whether it works again, `open` if no call is sent there.',
  openSince: 'When the process stopped sending calls there; null if it did not report it.',
  reason: 'Why, as the stable word of an error; null if it did not report it.',
  inState: 'Only processes that live, or only those that do not.',
} as const
