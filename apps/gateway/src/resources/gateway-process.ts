import type { Reload } from '#core/configuration/configurations.ts'
import { CONFIGURATION_STATES, type ProcessConfiguration } from '#core/ledger/configuration-state.ts'
import { PROCESS_CONCERNS, type ProcessConcern } from '#core/ledger/process-concerns.ts'
import {
  type GatewayProcess,
  PROCESS_FILTERS,
  PROCESS_STATES,
  type ProcessBreaker,
} from '#core/ledger/process-list.ts'
import { defineResource } from './define/define-resource.ts'
import {
  count,
  id,
  integer,
  name,
  nullable,
  object,
  objects,
  text,
  texts,
  time,
  words,
} from './define/fields.ts'
import { closed } from './define/vocabulary.ts'
import { BREAKER_STATE } from './deployment-words.ts'

const STATE_MEANINGS = {
  live: 'It lives.',
  stopped: 'It has left.',
  lost: 'It has sent no heartbeat for `instance.leaseMs`: it was killed, hangs, or does not reach the database.',
}

const PROCESS_STATE = closed(
  'GatewayProcessState',
  PROCESS_STATES,
  'Whether a process of the gateway lives.',
  STATE_MEANINGS,
)

export const PROCESS_FILTER = closed(
  'GatewayProcessFilter',
  PROCESS_FILTERS,
  'Which processes of the gateway to list.',
  { live: STATE_MEANINGS.live, ended: 'It has left or is lost.' },
)
export const IN_STATE = 'Only processes that live, or only those that do not.'

const CONFIGURATION_STATE = closed(
  'ProcessConfigurationState',
  CONFIGURATION_STATES,
  'Whether a process serves the configuration that was loaded last.',
  {
    current: 'It is.',
    pending:
      'It is another one, and another one was loaded less than a minute ago: the file may still be on its way to the machine of the process.',
    different: 'It is another one. The process has another file, or cannot use it.',
  },
)

const CONCERN_KIND = closed(
  'GatewayProcessConcernKind',
  PROCESS_CONCERNS,
  'What is wrong with a process of the gateway.',
  {
    ledger_behind:
      'Calls have ended whose end it cannot write to the ledger; until then they count as running.',
    disk_full: 'The disk of the database is full, or almost full.',
    unavailable:
      'It has answered requests 503 within the last minute, because a part of the installation was not available.',
  },
)

const BREAKER = defineResource<ProcessBreaker>()(
  'GatewayProcessBreaker',
  'The breaker of a deployment in one process, where it is not closed.',
  {
    agent: name('The id of the agent.'),
    deployment: name('The id of the deployment, unique within its agent.'),
    breaker: words(
      BREAKER_STATE,
      'Whether the process sends calls there: `half_open` or `open`, since closed ones are not listed.',
    ),
    openSince: nullable(time('When the process stopped sending calls there; null if it did not report it.')),
    reason: nullable(text('Why, as the stable word of an error; null if it did not report it.')),
  },
)

const NEEDS_RESTART = texts(
  'What is different in the file since the process has started, as places in the file, and takes effect with its next start.',
)

const CONFIGURATION = defineResource<ProcessConfiguration>()(
  'ProcessConfiguration',
  'The configuration that a process of the gateway serves.',
  {
    state: words(CONFIGURATION_STATE, 'Whether this is the configuration that was loaded last.'),
    number: count(
      'The number of the last reload that the process has followed, or that came before its start; 0 before the first.',
    ),
    fingerprint: text(
      'A fingerprint of all of the configuration: two processes with the same one serve the same.',
    ),
    since: time('Since when the process serves it.'),
    needsRestart: NEEDS_RESTART,
    error: nullable(text('What is wrong with the file of the process, if it cannot be used; else null.')),
  },
)

const CONCERN = defineResource<ProcessConcern>()(
  'GatewayProcessConcern',
  'Something that is wrong with a process.',
  {
    concern: words(CONCERN_KIND, 'What is wrong.'),
    cause: nullable(
      text('Which part is not available, as in the causes of refusals; null of other concerns.'),
    ),
    since: time('Since when.'),
    count: nullable(
      count('How many ends of calls wait, or how many requests were refused since then; null of a disk.'),
    ),
    blockedBy: nullable(
      text(
        'Who holds the lock for which statements of the gateway wait, as far as the role of the gateway may see it: the process id in PostgreSQL, the program, what it does. Null if no such lock was found.',
      ),
    ),
  },
)

export const GATEWAY_PROCESS = defineResource<GatewayProcess>()(
  'GatewayProcess',
  'A process of the gateway that shares the database, or did until it ended. It is listed until it ended more than `instance.retentionDays` ago.',
  {
    id: id('The id of the process, which all of its log lines have.'),
    host: nullable(text('The name of its machine; null for an earlier version.')),
    pid: nullable(integer('Its process id on that machine; null for an earlier version.')),
    port: nullable(
      integer(
        'The port on which it serves requests; null for an earlier version. It tells replicas on one machine apart; workers of one share it.',
      ),
    ),
    version: nullable(text('Its version; null for an earlier one, which did not report it.')),
    build: text('The newest migration of the database that it knows.'),
    state: words(PROCESS_STATE, 'Whether it lives.'),
    startedAt: time('When it started.'),
    lastSeenAt: time(
      'The time of its last heartbeat, by the clock of the database; when it left, if it did. Live processes send one every few seconds.',
    ),
    stoppedAt: nullable(time('When it left; null while it lives, and if it ended without leaving.')),
    callsInFlight: nullable(
      count(
        'Its chats in progress at its last heartbeat; null if it is not live, and for an earlier version, which did not report them.',
      ),
    ),
    breakers: objects(
      BREAKER,
      'The deployments whose breaker was not closed at its last heartbeat; empty if it is not live.',
    ),
    configuration: nullable(
      object(
        CONFIGURATION,
        'The configuration that it serves, as of its last heartbeat; null if it is not live, and for an earlier version, which did not report it.',
      ),
    ),
    concerns: objects(CONCERN, 'What was wrong with it at its last heartbeat; empty if it is not live.'),
  },
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
    breakers: [
      {
        agent: 'fastgpt',
        deployment: 'eu',
        breaker: 'open',
        open_since: '2026-11-20T08:29:00.000Z',
        reason: 'agent_unreachable',
      },
    ],
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
)

export const RELOAD = defineResource<Reload>()(
  'Reload',
  'A reload of the configuration.',
  {
    number: integer('The number of the reload.', 1),
    changed: texts(
      'What is different now, as places in the file: an agent as a whole, and each of the limits. Empty if the file is as before.',
    ),
    needsRestart: NEEDS_RESTART,
    processes: objects(GATEWAY_PROCESS, 'The processes that live, with what they serve now.'),
  },
  {
    number: 4,
    changed: ['agents.support', 'limits.chat.points'],
    needs_restart: ['uploads.maxBytes'],
    processes: [],
  },
)
