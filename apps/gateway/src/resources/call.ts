import { RATINGS } from '#core/conversations/rate-call.ts'
import type { ListedAttempt } from '#core/reports/call-attempts.ts'
import type { CallInstance } from '#core/reports/call-instances.ts'
import type { CallsInput } from '#core/reports/calls-query.ts'
import { AMOUNT_MAX } from '#core/reports/calls-query.ts'
import type { ServedCall } from '#core/reports/served-calls.ts'
import type { Call } from '#generated/prisma/client.ts'
import { END_USER_DESCRIPTIONS } from '#http/descriptions/end-user-descriptions.ts'
import { CALL_FACE, CALL_KIND, CALL_OUTCOME, CALL_STATE, RATING } from './call-words.ts'
import {
  byAnyOf,
  byFlag,
  byId,
  byInteger,
  byName,
  byText,
  byUser,
  byWord,
  type ConditionsOf,
  type ListDefinition,
  rangeOf,
} from './define/define-list.ts'
import { defineResource } from './define/define-resource.ts'
import {
  agent,
  call,
  derivedFrom,
  flag,
  id,
  integer,
  key,
  large,
  name,
  nullable,
  text,
  time,
  user,
  words,
} from './define/fields.ts'
import type { Field, Fields, View } from './define/resource.ts'

const DESCRIPTION =
  'An admitted call: a row of the ledger. It is kept for `usage.retentionDays`, by default 400 days, longer than the objects that it names may exist.'

type Seen = Pick<View, 'seesPlatform'>
const { computed } = derivedFrom<Call, Seen>()

/** Rows that Pothos reads itself have what the platform said, and which process served them, for every caller. */
function ifShown<Value, Column extends keyof Call>(of: Field<Value, Call[Column] | null>, column: Column) {
  return computed(of, [column], (row, { seesPlatform }) => (seesPlatform ? row[column] : null))
}

const HOST = nullable(
  text(
    'The name of the machine of that process; null once it ended more than `instance.retentionDays` ago. Shown only to administrators.',
  ),
)
const PID = nullable(
  integer('The process id on that machine; null as `host` is. Shown only to administrators.'),
)
const VERSION = nullable(
  text('The version of that process; null as `host` is. Shown only to administrators.'),
)

/** A process as GraphQL has it beside its calls. */
export const INSTANCE = defineResource<CallInstance>()(
  'Instance',
  'A process of the gateway. It is identified by `Call.instanceId`.',
  { host: HOST, pid: PID, version: VERSION },
)

const FIRST_FIELDS = {
  id: id('The id of the call, also sent in the header `X-Call-Id`.'),
  requestId: text('The id of the request (`X-Request-Id`).'),
  keyId: key(
    'The id of the API key that made the call.',
    'The API key that made the call; null if it is not yours to see, or if its record was removed (`apiKeys.revokedRetentionDays`).',
  ),
  ownerId: user(
    'The id of the user whom the API key belongs to.',
    'The user whom the API key belongs to; null if it is not yours to see.',
  ),
  endUser: text('The end user that the client named; empty if it named none.'),
  kind: words(CALL_KIND, 'What the call did.'),
  face: words(CALL_FACE, 'The interface through which the call came.'),
  agent: agent(
    'The id of the agent; empty for uploads that named none.',
    'The agent; null if it is not configured any more or your key may not use it.',
  ),
  app: name('The id of the app of the agent; empty if there is none.'),
  deployment: nullable(
    text(
      'The id of the deployment of the agent to which the last request of the call was sent, such as `main`, by the configuration of that time; null while the call runs, if nothing was sent or it was interrupted, and for uploads.',
    ),
  ),
  model: nullable(text('The model that the platform named; null if it named none.')),
  conversation: name('The id by which the client names the conversation.'),
  outcome: nullable(words(CALL_OUTCOME, 'How the call ended; null while it runs.')),
  reason: nullable(text('The stable word of the error; null if the call did not fail.')),
  attempts: nullable(
    integer(
      'How many requests were sent to deployments of the agent for this call, which is one call however many they were. `reason` and the words of the platform are those of the last one. Null while the call runs, if nothing was sent or it was interrupted, and for uploads.',
    ),
  ),
  platformStatus: ifShown(
    nullable(integer('The HTTP status of the error of the platform. Shown only to administrators.')),
    'platformStatus',
  ),
  platformCode: ifShown(
    nullable(text("The platform's own code of the error. Shown only to administrators.")),
    'platformCode',
  ),
  platformLogId: ifShown(
    nullable(
      text('The id by which the support of the platform finds the call. Shown only to administrators.'),
    ),
    'platformLogId',
  ),
  instanceId: ifShown(
    nullable(
      id(
        'The id of the process that served the call, which all of its log lines have. Shown only to administrators.',
      ),
    ),
    'instance',
  ),
}

const NOT_SHOWN = 'null as well if it is not yours to see, or is past its retention.'

const LAST_FIELDS = {
  traceId: ifShown(
    nullable(
      text(
        'The id of the trace of the call, in hex; null while the call runs, and if it was not traced or was interrupted. Shown only to administrators.',
      ),
    ),
    'traceId',
  ),
  promptTokens: nullable(large('The tokens of the input; null if they were not reported.')),
  completionTokens: nullable(large('The tokens of the reply; null if they were not reported.')),
  totalTokens: nullable(large('The tokens of both; null if they were not reported.')),
  admittedAt: time('When the call was admitted.'),
  queuedMs: nullable(
    integer(
      'The milliseconds that the call waited for a free slot of its agent before it was admitted, which are part of no other time; null if it did not wait, and while it runs.',
    ),
  ),
  firstChunkMs: nullable(
    integer('The milliseconds from the dispatch to the first text; null if there was none.'),
  ),
  durationMs: nullable(integer('The milliseconds from the dispatch to the end; null while the call runs.')),
  endedAt: nullable(time('When the call ended; null while it runs.')),
  replays: integer(
    'How many later requests with the same `Idempotency-Key` were answered from this call. They are no calls of their own.',
  ),
  paused: flag(
    'Whether the reply of the call ended with a question to its user, a pause, at which the run waited. It stays true after the answer.',
  ),
  answers: nullable(
    call(
      'The id of the call whose pause this one answered or gave up; null if there is none.',
      `The call whose pause this one answered or gave up; ${NOT_SHOWN}`,
    ),
  ),
  answeredBy: nullable(
    call(
      'The id of the call that answered the pause of this one or gave it up; null if none has.',
      `The call that answered the pause of this one or gave it up; ${NOT_SHOWN}`,
    ),
  ),
  rating: computed(
    nullable(words(RATING, 'What the user thinks of the answer; null if it was not rated.')),
    ['rating'],
    ({ rating }) => RATINGS.find((known) => known === rating) ?? null,
  ),
  ratingText: nullable(text('What the user said about it; null without a text.')),
}

/** A call as GraphQL has it, with the process as an object. */
export const CALL = defineResource<Call, Seen>()('Call', DESCRIPTION, { ...FIRST_FIELDS, ...LAST_FIELDS })

export const SERVED_CALL = defineResource<ServedCall, Seen>()(
  'Call',
  DESCRIPTION,
  { ...FIRST_FIELDS, instanceHost: HOST, instancePid: PID, instanceVersion: VERSION, ...LAST_FIELDS },
  {
    id: '019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10',
    request_id: 'ticket-1',
    key_id: '019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a11',
    owner_id: '019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a12',
    end_user: '',
    kind: 'chat',
    face: 'rest',
    agent: 'fastgpt',
    app: 'support',
    deployment: 'main',
    model: null,
    conversation: 'chat-1',
    outcome: 'done',
    reason: null,
    attempts: 1,
    platform_status: null,
    platform_code: null,
    platform_log_id: null,
    instance_id: '019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a13',
    instance_host: 'gateway-1',
    instance_pid: 7,
    instance_version: '0.1.0',
    trace_id: '4bf92f3577b34da6a3ce929d0e0e4736',
    prompt_tokens: 12,
    completion_tokens: 5,
    total_tokens: 17,
    admitted_at: '2026-11-20T08:30:00.000Z',
    queued_ms: null,
    first_chunk_ms: 210,
    duration_ms: 900,
    ended_at: '2026-11-20T08:30:00.900Z',
    replays: 0,
    paused: false,
    answers: null,
    answered_by: null,
    rating: null,
    rating_text: null,
  },
)

/** An attempt, with the reason of its failure in GraphQL's enum beside it. */
export const CALL_ATTEMPT = defineResource<ListedAttempt, Seen>()(
  'CallAttempt',
  'One request of a call to a deployment of its agent.',
  {
    deployment: text('The id of the deployment to which it was sent.'),
    startMs: integer(
      'The milliseconds from the dispatch of the call until it was sent; until it began, if it failed before that.',
    ),
    durationMs: integer('The milliseconds from then to its end.'),
    outcome: words(CALL_OUTCOME, 'How it ended, and with it the call if no other attempt followed.'),
    platformStatus: derivedFrom<ListedAttempt, Seen>().computed(
      FIRST_FIELDS.platformStatus,
      ['platformStatus'],
      ({ platformStatus }, { seesPlatform }) => (seesPlatform ? platformStatus : null),
    ),
  },
)

export const STOP_CALL =
  'Stops a running call at its platform, in whichever process it runs, and whether it is kept or not; an upload as well. Administrators stop all calls, users those of their own keys, an API key that may chat all calls of its owner, and one that may only upload its own. One that is limited to agents stops, beside its own calls, only those of these agents, and a request that a trusted proxy has bound to an end user only those of that one. Only the API key that made a kept call may name it by its `Idempotency-Key`. A call that has ended is left as it is, so that a repetition does no harm.'
export const STOP_OUTCOME =
  'How the call has ended. Null while it still runs: it ends within a second or so, unless its process is of an older version, which the record of the call shows.'

/** Who sees which calls, with the name of the permission in the face. */
export function visibleCalls(permission: string): string {
  return `Users see the calls of their own keys, administrators all calls, and an API key without the permission \`${permission}\` only its own calls. ${END_USER_DESCRIPTIONS.bound}`
}

export const FOR_ADMINS =
  "The fields with the platform's own words and with the process that served the call are shown only to administrators."

const NAME_LENGTH_MAX = 256
const AMOUNTS = { minimum: 0, maximum: AMOUNT_MAX }

export const CALL_CONDITIONS = {
  agent: byName(
    'Only calls to this agent, such as `fastgpt`, which must be configured or have been called before.',
    32,
  ),
  app: byName(
    'Only calls of the app with this id; an empty text stands for calls without an app. Ids of apps belong to an agent.',
    NAME_LENGTH_MAX,
  ),
  deployment: byText(
    'Only calls whose last request was sent to the deployment with this id; an empty text stands for calls of which none is known, such as those that still run. Ids of deployments belong to an agent.',
    NAME_LENGTH_MAX,
  ),
  model: byText(
    'Only calls for which the platform named this model; an empty text stands for calls for which it named none.',
    NAME_LENGTH_MAX,
  ),
  kind: byWord(CALL_KIND, 'Only calls that did this.'),
  face: byWord(CALL_FACE, 'Only calls that came through this interface.'),
  keyId: byId('Only calls of the API key with this id.'),
  ownerId: byUser('Only calls of the API keys of the user with this id.'),
  endUser: byText(
    'Only calls of the end user whom the client named so; an empty text stands for calls without one. The same name with another user is another end user.',
    NAME_LENGTH_MAX,
  ),
  conversation: byName(
    'Only calls of the conversation that the client names by this id. The same id of another user, end user, agent or app is another conversation.',
    NAME_LENGTH_MAX,
  ),
  requestId: byText('Only calls of the request with this id.', 128),
  reason: byText(
    'Only calls that failed or were refused for this reason: a stable word of an error, such as `agent_timeout`.',
    64,
  ),
  paused: byFlag('Only calls that paused, or only those that did not.'),
  firstChunkMsMin: byInteger(
    'Only calls whose first text came at least this many milliseconds after the dispatch.',
    AMOUNTS,
  ),
  durationMsMin: byInteger(
    'Only calls that took at least this many milliseconds from the dispatch to the end.',
    AMOUNTS,
  ),
  totalTokensMin: byInteger('Only calls for which the platform reported at least this many tokens.', AMOUNTS),
  outcome: byAnyOf(CALL_STATE, 'Only calls of which one of these is true.'),
} satisfies ConditionsOf<CallsInput>

export const CALLS = {
  of: SERVED_CALL,
  path: 'calls',
  operationId: 'listCalls',
  summary: 'List calls',
  description: `Returns the calls of the ledger, newest first, including those that still run. ${visibleCalls('admin')} ${FOR_ADMINS} The CSV format returns all calls at once, without pages.`,
  conditions: CALL_CONDITIONS,
  range: rangeOf('calls admitted'),
} satisfies ListDefinition<ServedCall, Fields, Seen>
