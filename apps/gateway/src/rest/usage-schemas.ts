import Type from 'typebox'
import { CALL_FACES, OUTCOMES } from '#core/ledger/ledger.ts'
import { nullable, oneOf, Timestamp, timestamp, uuid } from '#http/reply/schemas.ts'

function quantiles(description: string) {
  return nullable(
    Type.Object({
      p50: Type.Number({ description: 'The median.' }),
      p95: Type.Number({ description: 'The 95th percentile.' }),
      p99: Type.Number({ description: 'The 99th percentile.' }),
    }),
    `${description}, in milliseconds, with an error of at most 4.9 %; null where there is no such call.`,
  )
}

const metrics = {
  calls: Type.Integer({ description: 'How many calls there were.' }),
  failed_calls: Type.Integer({
    description:
      'How many of them failed: those with the outcome `upstream_error`, `timeout`, `drained` or `interrupted`.',
  }),
  prompt_tokens: nullable(Type.Integer(), 'The tokens of the inputs; null where none were reported.'),
  completion_tokens: nullable(Type.Integer(), 'The tokens of the replies; null where none were reported.'),
  total_tokens: nullable(Type.Integer(), 'The tokens of both; null where none were reported.'),
  token_coverage: Type.Union([Type.Number(), Type.Null()], {
    description:
      'The share (0 to 1) of the calls for which the platform reported tokens. The sums of tokens cover only these calls.',
  }),
  first_chunk_ms: quantiles('The time from the dispatch of a call to its first text'),
  duration_ms: quantiles('The time from the dispatch of a call to its end'),
}

const METRICS_EXAMPLE = {
  calls: 2,
  failed_calls: 0,
  prompt_tokens: 24,
  completion_tokens: 10,
  total_tokens: 34,
  token_coverage: 1,
  first_chunk_ms: { p50: 210, p95: 340, p99: 340 },
  duration_ms: { p50: 900, p95: 1200, p99: 1200 },
}

export const UsageReportSchema = Type.Object(
  {
    from: timestamp('The start of the report'),
    to: timestamp('The end of the report, not included'),
    timezone: Type.String({ description: 'The time zone in which the days and months begin.' }),
    granularity: oneOf(['hour', 'day', 'month'], 'The length of each bucket.'),
    group_by: Type.Array(Type.String(), { description: 'The properties by which the calls are grouped.' }),
    totals: Type.Object(metrics, { description: 'The sums over the whole report.' }),
    series: Type.Array(
      Type.Object({
        group: Type.Record(Type.String(), Type.String(), {
          description: 'The value of each property of `group_by`; empty without `group_by`.',
        }),
        totals: Type.Object(metrics, { description: 'The sums over this group.' }),
        points: Type.Array(Type.Object({ start: timestamp('The start of the bucket'), ...metrics }), {
          description: 'One bucket for each hour, day or month, without gaps.',
        }),
      }),
      {
        description:
          'One series for each group, that with the most calls first. Without `group_by` there is one series.',
      },
    ),
  },
  {
    $id: 'UsageReport',
    description:
      'The calls that have ended, each counted in the hour, day or month in which it was admitted.',
    examples: [
      {
        from: '2026-11-19T00:00:00.000Z',
        to: '2026-11-20T00:00:00.000Z',
        timezone: 'UTC',
        granularity: 'day',
        group_by: ['agent'],
        totals: METRICS_EXAMPLE,
        series: [
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
    request_id: Type.String({ description: 'The id of the request (`X-Request-Id`).' }),
    key_id: uuid('The id of the API key that made the call.'),
    owner_id: uuid('The id of the user whom the key belongs to.'),
    end_user: Type.String({ description: 'The end user that the client named; empty if it named none.' }),
    kind: oneOf(['chat', 'upload'], 'What the call did.'),
    face: oneOf(CALL_FACES, 'The interface through which the call came.'),
    agent: Type.String({ description: 'The id of the agent.' }),
    app: Type.String({ description: 'The id of the app of the agent; empty if there is none.' }),
    model: nullable(Type.String(), 'The model that the platform named; null if it named none.'),
    conversation: Type.String({ description: 'The id by which the client names the conversation.' }),
    outcome: Type.Union([oneOf(OUTCOMES), Type.Null()], {
      description:
        'How the call ended; null while it runs. `rejected`: it was refused for a reason of the caller after it had been admitted, or while it ran its key was revoked or expired, or the owner of the key was suspended.',
    }),
    reason: nullable(Type.String(), 'The stable word of the error; null if the call did not fail.'),
    platform_status: nullable(
      Type.Integer(),
      'The HTTP status of the error of the platform. Shown only to administrators.',
    ),
    platform_code: nullable(
      Type.String(),
      "The platform's own code of the error. Shown only to administrators.",
    ),
    platform_log_id: nullable(
      Type.String(),
      'The id by which the support of the platform finds the call. Shown only to administrators.',
    ),
    prompt_tokens: nullable(Type.Integer(), 'The tokens of the input; null if they were not reported.'),
    completion_tokens: nullable(Type.Integer(), 'The tokens of the reply; null if they were not reported.'),
    total_tokens: nullable(Type.Integer(), 'The tokens of both; null if they were not reported.'),
    admitted_at: timestamp('When the call was admitted'),
    first_chunk_ms: nullable(
      Type.Integer(),
      'The milliseconds from the dispatch to the first text; null if there was none.',
    ),
    duration_ms: nullable(
      Type.Integer(),
      'The milliseconds from the dispatch to the end; null while the call runs.',
    ),
    ended_at: nullable(Timestamp, 'When the call ended; null while it runs.'),
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
        model: null,
        conversation: 'chat-1',
        outcome: 'done',
        reason: null,
        platform_status: null,
        platform_code: null,
        platform_log_id: null,
        prompt_tokens: 12,
        completion_tokens: 5,
        total_tokens: 17,
        admitted_at: '2026-11-20T08:30:00.000Z',
        first_chunk_ms: 210,
        duration_ms: 900,
        ended_at: '2026-11-20T08:30:00.900Z',
      },
    ],
  },
)
