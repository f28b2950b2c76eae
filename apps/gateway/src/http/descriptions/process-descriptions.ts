/** A process of the gateway, and the filters of processes. */
export const PROCESS_DESCRIPTIONS = {
  resource:
    'A process of the gateway that shares the database, or did until it ended. It is listed until it ended more than `instance.retentionDays` ago.',
  id: 'The id of the process, which all of its log lines have.',
  host: 'The name of its machine; null for an earlier version.',
  pid: 'Its process id on that machine; null for an earlier version.',
  port: 'The port on which it serves requests; null for an earlier version. It tells replicas on one machine apart; workers of one share it.',
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
  breakerState:
    '`half_open` if one call tries whether it works again, or the next one will; `open` if no call is sent there.',
  openSince: 'When the process stopped sending calls there; null if it did not report it.',
  reason: 'Why, as the stable word of an error; null if it did not report it.',
  configuration:
    'The configuration that it serves, as of its last heartbeat; null if it is not live, and for an earlier version, which did not report it.',
  configurationState: 'Whether this is the configuration that was loaded last.',
  current: 'It is.',
  pending:
    'It is another one, and another one was loaded less than a minute ago: the file may still be on its way to the machine of the process.',
  different: 'It is another one. The process has another file, or cannot use it.',
  number:
    'The number of the last reload that the process has followed, or that came before its start; 0 before the first.',
  fingerprint: 'A fingerprint of all of the configuration: two processes with the same one serve the same.',
  since: 'Since when the process serves it.',
  needsRestart:
    'What is different in the file since the process has started, as places in the file, and takes effect with its next start.',
  configurationError: 'What is wrong with the file of the process, if it cannot be used; else null.',
  concerns: 'What was wrong with it at its last heartbeat; empty if it is not live.',
  concern: 'Something that is wrong with a process.',
  concernKind: 'What is wrong.',
  ledger_behind:
    'Calls have ended whose end it cannot write to the ledger; until then they count as running.',
  disk_full: 'The disk of the database is full, or almost full.',
  unavailable:
    'It has answered requests 503 within the last minute, because a part of the installation was not available.',
  concernCause: 'Which part is not available, as in the causes of refusals; null of other concerns.',
  concernSince: 'Since when.',
  concernCount: 'How many ends of calls wait, or how many requests were refused since then; null of a disk.',
  blockedBy:
    'Who holds the lock for which statements of the gateway wait, as far as the role of the gateway may see it: the process id in PostgreSQL, the program, what it does. Null if no such lock was found.',
  inState: 'Only processes that live, or only those that do not.',
} as const
