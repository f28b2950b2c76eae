import Type from 'typebox'
import { OUTCOMES } from '#core/usage/ledger.ts'
import { nullable, oneOf, Timestamp, Uuid } from '#http/schemas.ts'

const Quantiles = nullable(
  Type.Object(
    { p50: Type.Number(), p95: Type.Number(), p99: Type.Number() },
    { description: 'Milliseconds, at most 4.9 % off.' },
  ),
)

const metrics = {
  calls: Type.Integer(),
  failed_calls: Type.Integer({ description: 'upstream_error, timeout, drained and interrupted.' }),
  prompt_tokens: nullable(Type.Integer()),
  completion_tokens: nullable(Type.Integer()),
  total_tokens: nullable(Type.Integer()),
  token_coverage: Type.Union([Type.Number(), Type.Null()], {
    description: 'Share of the calls whose platform reported tokens; the sums are theirs.',
  }),
  first_chunk_ms: Quantiles,
  duration_ms: Quantiles,
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
    from: Timestamp,
    to: Timestamp,
    timezone: Type.String(),
    granularity: oneOf(['hour', 'day', 'month']),
    group_by: Type.Array(Type.String()),
    totals: Type.Object(metrics),
    series: Type.Array(
      Type.Object({
        group: Type.Record(Type.String(), Type.String()),
        totals: Type.Object(metrics),
        points: Type.Array(Type.Object({ start: Timestamp, ...metrics })),
      }),
      { description: 'One a group, the most used first; one in all without `group_by`.' },
    ),
  },
  {
    $id: 'UsageReport',
    description: 'Calls that have ended, in the buckets of their admission.',
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
    id: Uuid,
    request_id: Type.String(),
    key_id: Uuid,
    owner_id: Uuid,
    end_user: Type.String(),
    kind: oneOf(['chat', 'upload']),
    face: oneOf(['rest', 'openai', 'graphql']),
    agent: Type.String(),
    app: Type.String(),
    model: nullable(Type.String()),
    conversation: Type.String({ description: "The client's id of the conversation." }),
    outcome: Type.Union([oneOf(OUTCOMES), Type.Null()], { description: 'Null while the call runs.' }),
    reason: nullable(Type.String()),
    platform_status: nullable(Type.Integer()),
    platform_code: nullable(Type.String()),
    platform_log_id: nullable(Type.String()),
    prompt_tokens: nullable(Type.Integer()),
    completion_tokens: nullable(Type.Integer()),
    total_tokens: nullable(Type.Integer()),
    admitted_at: Timestamp,
    first_chunk_ms: nullable(Type.Integer()),
    duration_ms: nullable(Type.Integer()),
    ended_at: nullable(Timestamp),
  },
  {
    $id: 'Call',
    description: 'One admitted call.',
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
