import Type from 'typebox'
import { CALL_FACES, OUTCOMES } from '#core/ledger/call-kinds.ts'
import { GRANULARITIES } from '#core/reports/range/calendar.ts'
import { GROUPS } from '#core/reports/report-rows.ts'
import { CALL_DESCRIPTIONS } from '#http/descriptions/call-descriptions.ts'
import { USAGE_DESCRIPTIONS } from '#http/descriptions/usage-descriptions.ts'
import { nullable, oneOf, openOneOf, ref, Timestamp, timestamp, Uuid, uuid } from '#http/response/schemas.ts'

function quantiles(description: string) {
  return nullable(
    Type.Object({
      p50: Type.Number({ description: USAGE_DESCRIPTIONS.p50 }),
      p95: Type.Number({ description: USAGE_DESCRIPTIONS.p95 }),
      p99: Type.Number({ description: USAGE_DESCRIPTIONS.p99 }),
    }),
    description,
  )
}

const metrics = {
  calls: Type.Integer({ description: USAGE_DESCRIPTIONS.calls }),
  failed_calls: Type.Integer({
    description:
      'How many of them failed: those with the outcome `upstream_error`, `timeout`, `drained` or `interrupted`.',
  }),
  prompt_tokens: nullable(Type.Integer(), USAGE_DESCRIPTIONS.promptTokens),
  completion_tokens: nullable(Type.Integer(), USAGE_DESCRIPTIONS.completionTokens),
  total_tokens: nullable(Type.Integer(), USAGE_DESCRIPTIONS.totalTokens),
  token_coverage: Type.Union([Type.Number(), Type.Null()], {
    description: USAGE_DESCRIPTIONS.tokenCoverage,
  }),
  rated_up: Type.Integer({ description: USAGE_DESCRIPTIONS.ratedUp }),
  rated_down: Type.Integer({ description: USAGE_DESCRIPTIONS.ratedDown }),
  first_chunk_ms: quantiles(USAGE_DESCRIPTIONS.firstChunkMs),
  duration_ms: quantiles(USAGE_DESCRIPTIONS.durationMs),
}

const METRICS_EXAMPLE = {
  calls: 2,
  failed_calls: 0,
  prompt_tokens: 24,
  completion_tokens: 10,
  total_tokens: 34,
  token_coverage: 1,
  rated_up: 1,
  rated_down: 0,
  first_chunk_ms: { p50: 210, p95: 340, p99: 340 },
  duration_ms: { p50: 900, p95: 1200, p99: 1200 },
}

/** What a group is of: a property is there where the report is grouped by it. */
export const UsageGroupValuesSchema = Type.Object(
  {
    key: Type.Optional(Type.String({ description: 'The id of the API key.' })),
    agent: Type.Optional(Type.String({ description: CALL_DESCRIPTIONS.agent })),
    app: Type.Optional(Type.String({ description: CALL_DESCRIPTIONS.app })),
    model: Type.Optional(Type.String({ description: 'The model; empty where the platform named none.' })),
    user: Type.Optional(Type.String({ description: CALL_DESCRIPTIONS.ownerId })),
    end_user: Type.Optional(Type.String({ description: CALL_DESCRIPTIONS.endUser })),
    outcome: Type.Optional(openOneOf(OUTCOMES, 'How the calls ended.')),
    conversation: Type.Optional(Type.String({ description: 'The id of the conversation at the gateway.' })),
  } satisfies Record<(typeof GROUPS)[number], unknown>,
  {
    $id: 'UsageGroupValues',
    description: 'The value of each property of `group_by`; empty without `group_by`.',
    examples: [{ agent: 'fastgpt', outcome: 'done' }],
  },
)

export const UsageReportSchema = Type.Object(
  {
    from: timestamp(USAGE_DESCRIPTIONS.from),
    to: timestamp(USAGE_DESCRIPTIONS.to),
    timezone: Type.String({ description: USAGE_DESCRIPTIONS.timezone }),
    granularity: oneOf(GRANULARITIES, USAGE_DESCRIPTIONS.granularity),
    group_by: Type.Array(oneOf(GROUPS), { description: USAGE_DESCRIPTIONS.groupBy }),
    totals: Type.Object(metrics, { description: USAGE_DESCRIPTIONS.totals }),
    groups: Type.Array(
      Type.Object({
        group: ref(UsageGroupValuesSchema),
        totals: Type.Object(metrics, { description: USAGE_DESCRIPTIONS.groupTotals }),
        points: Type.Array(Type.Object({ start: timestamp(USAGE_DESCRIPTIONS.start), ...metrics }), {
          description: `The numbers of the group. ${USAGE_DESCRIPTIONS.points}`,
        }),
      }),
      {
        description:
          'One item for each group, that with the most calls first. Without `group_by` there is one.',
      },
    ),
    previous: Type.Optional(
      Type.Unsafe<unknown>({
        // Beside a `$ref` alone, the description would be lost.
        allOf: [{ $ref: 'UsageReport#' }],
        description:
          'The same report for the period before, or for that of `compare_from`; only if one of `previous` and `compare_from` was given. It has no `previous` itself.',
      }),
    ),
  },
  {
    $id: 'UsageReport',
    description: USAGE_DESCRIPTIONS.report,
    examples: [
      {
        from: '2026-11-19T00:00:00.000Z',
        to: '2026-11-20T00:00:00.000Z',
        timezone: 'UTC',
        granularity: 'day',
        group_by: ['agent'],
        totals: METRICS_EXAMPLE,
        groups: [
          {
            group: { agent: 'fastgpt' },
            totals: METRICS_EXAMPLE,
            points: [{ start: '2026-11-19T00:00:00.000Z', ...METRICS_EXAMPLE }],
          },
        ],
      },
    ],
  },
)

export const CallSchema = Type.Object(
  {
    id: uuid('The id of the call, also sent in the header `X-Call-Id`.'),
    request_id: Type.String({ description: CALL_DESCRIPTIONS.requestId }),
    key_id: uuid(CALL_DESCRIPTIONS.keyId),
    owner_id: uuid(CALL_DESCRIPTIONS.ownerId),
    end_user: Type.String({ description: CALL_DESCRIPTIONS.endUser }),
    kind: oneOf(['chat', 'upload'], CALL_DESCRIPTIONS.kind),
    face: oneOf(CALL_FACES, CALL_DESCRIPTIONS.face),
    agent: Type.String({ description: CALL_DESCRIPTIONS.agent }),
    app: Type.String({ description: CALL_DESCRIPTIONS.app }),
    deployment: nullable(Type.String(), CALL_DESCRIPTIONS.deployment),
    model: nullable(Type.String(), CALL_DESCRIPTIONS.model),
    conversation: Type.String({ description: CALL_DESCRIPTIONS.conversation }),
    outcome: Type.Union([oneOf(OUTCOMES), Type.Null()], {
      description: `${CALL_DESCRIPTIONS.outcome} \`rejected\`: it was refused for a reason of the caller after it had been admitted, or while it ran its key was revoked or expired, or the owner of the key was suspended.`,
    }),
    reason: nullable(Type.String(), CALL_DESCRIPTIONS.reason),
    attempts: nullable(Type.Integer(), CALL_DESCRIPTIONS.attempts),
    platform_status: nullable(Type.Integer(), CALL_DESCRIPTIONS.platformStatus),
    platform_code: nullable(Type.String(), CALL_DESCRIPTIONS.platformCode),
    platform_log_id: nullable(Type.String(), CALL_DESCRIPTIONS.platformLogId),
    instance_id: nullable(Uuid, CALL_DESCRIPTIONS.instanceId),
    instance_host: nullable(Type.String(), CALL_DESCRIPTIONS.instanceHost),
    instance_pid: nullable(Type.Integer(), CALL_DESCRIPTIONS.instancePid),
    instance_version: nullable(Type.String(), CALL_DESCRIPTIONS.instanceVersion),
    trace_id: nullable(Type.String(), CALL_DESCRIPTIONS.traceId),
    prompt_tokens: nullable(Type.Integer(), CALL_DESCRIPTIONS.promptTokens),
    completion_tokens: nullable(Type.Integer(), CALL_DESCRIPTIONS.completionTokens),
    total_tokens: nullable(Type.Integer(), CALL_DESCRIPTIONS.totalTokens),
    admitted_at: timestamp(CALL_DESCRIPTIONS.admittedAt),
    queued_ms: nullable(Type.Integer(), CALL_DESCRIPTIONS.queuedMs),
    first_chunk_ms: nullable(Type.Integer(), CALL_DESCRIPTIONS.firstChunkMs),
    duration_ms: nullable(Type.Integer(), CALL_DESCRIPTIONS.durationMs),
    ended_at: nullable(Timestamp, CALL_DESCRIPTIONS.endedAt),
    replays: Type.Integer({ description: CALL_DESCRIPTIONS.replays }),
    paused: Type.Boolean({ description: CALL_DESCRIPTIONS.paused }),
    answers: nullable(Uuid, CALL_DESCRIPTIONS.answers),
    answered_by: nullable(Uuid, CALL_DESCRIPTIONS.answeredBy),
    rating: nullable(oneOf(['up', 'down']), CALL_DESCRIPTIONS.rating),
    rating_text: nullable(Type.String(), CALL_DESCRIPTIONS.ratingText),
  },
  {
    $id: 'Call',
    description: 'One admitted call, as the ledger records it.',
    examples: [
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
    ],
  },
)
