import type { CallSteps } from '#core/calls/call-events.ts'
import type { Instruments } from './instruments.ts'

/** The buckets of the conventions: 0.01 s, doubled up to 81.92 s. */
const SECONDS = Array.from({ length: 14 }, (_, power) => 2 ** power / 100)
/** The buckets of the conventions: 1 token, times four up to 67,108,864. */
const TOKENS = Array.from({ length: 14 }, (_, power) => 4 ** power)

/** Label names as Prometheus writes the attributes of the conventions. */
const LABELS = ['gen_ai_provider_name', 'gen_ai_request_model', 'gen_ai_response_model'] as const
const OTHER_MODEL = 'other'

/**
 * What OpenTelemetry's conventions for generative AI measure of a client, here of each request to a platform. Their names are
 * those that a collector gives them for Prometheus (`gen_ai.client.operation.duration` in seconds and so on), so that
 * dashboards made for other clients show this one as well. `gen_ai_operation_name` is always `invoke_agent`.
 */
export function createModelMetrics({ histogram }: Instruments) {
  const duration = histogram(
    'gen_ai_client_operation_duration_seconds',
    'Time of a request to a platform, from its dispatch to the end of the reply or its failure.',
    [...LABELS, 'error_type'],
    SECONDS,
    INVOKE_AGENT,
  )
  const firstChunk = histogram(
    'gen_ai_client_operation_time_to_first_chunk_seconds',
    'Time from the dispatch of a request to the first part of the answer.',
    LABELS,
    SECONDS,
    INVOKE_AGENT,
  )
  const tokens = histogram(
    'gen_ai_client_token_usage',
    'Tokens of a request as the platform reported them.',
    [...LABELS, 'gen_ai_token_type'],
    TOKENS,
    INVOKE_AGENT,
  )
  return {
    attempt_ended({ platform, exchange, failure }) {
      if (exchange === undefined) return
      const { requestedModel = '', model, durationMs, firstTextMs, usage } = exchange
      // A platform may report any name, and the configuration has only a few.
      const reported = model === undefined || model === requestedModel ? model : OTHER_MODEL
      duration.add(durationMs / 1000, platform, requestedModel, reported, failure?.reason)
      if (firstTextMs !== undefined) firstChunk.add(firstTextMs / 1000, platform, requestedModel, reported)
      if (usage === undefined) return
      tokens.add(usage.promptTokens, platform, requestedModel, reported, 'input')
      tokens.add(usage.completionTokens, platform, requestedModel, reported, 'output')
    },
  } satisfies CallSteps
}

const INVOKE_AGENT = { fixedLabels: { gen_ai_operation_name: 'invoke_agent' } } as const
