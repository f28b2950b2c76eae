import Type, { type Static } from 'typebox'
import { oneOf, text } from '#core/agents/entry-schema.ts'
import { count, httpUrl, matching, TIMER_MS_MAX } from './setting-types.ts'

const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const

const PAIRS = 'pairs such as name=value, with commas between them'

/**
 * The variables of OpenTelemetry that count. The exporter and the detector of resources read theirs (`OTEL_EXPORTER_OTLP_`,
 * `OTEL_SERVICE_NAME`, `OTEL_RESOURCE_ATTRIBUTES`) by themselves; these are here to be checked, since they ignore what they do not
 * understand.
 */
export const TRACE_VARIABLES = {
  OTEL_EXPORTER_OTLP_ENDPOINT: Type.Optional(
    httpUrl({
      description:
        'The URL of an OpenTelemetry collector that takes OTLP over HTTP. Traces are sent to `/v1/traces` below it, as JSON ([tracing.md](tracing.md)).',
      whenAbsent: 'no traces',
      examples: ['http://collector:4318'],
    }),
  ),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: Type.Optional(
    httpUrl({
      description:
        'The whole URL for traces, instead of the one above. The other `OTEL_` variables are read only if one of the two is set.',
      whenAbsent: '`OTEL_EXPORTER_OTLP_ENDPOINT` and `/v1/traces`',
    }),
  ),
  OTEL_EXPORTER_OTLP_PROTOCOL: oneOf(['http/json', 'http/protobuf'], {
    default: 'http/json',
    description: 'Traces are sent as JSON, which collectors take on the same port as `http/protobuf`.',
  }),
  OTEL_EXPORTER_OTLP_HEADERS: Type.Optional(
    matching(PAIRS, arePairs, {
      secret: true,
      description: 'Headers for the collector, such as a key, as `name=value` with commas between them.',
    }),
  ),
  OTEL_EXPORTER_OTLP_COMPRESSION: oneOf(['none', 'gzip'], {
    default: 'none',
    description: 'How traces are compressed.',
  }),
  OTEL_EXPORTER_OTLP_TIMEOUT: count(10_000, {
    maximum: TIMER_MS_MAX,
    description: 'How many milliseconds the collector may take for a batch, further tries included.',
  }),
  OTEL_TRACES_SAMPLER: oneOf([...SAMPLERS], {
    default: 'parentbased_always_on',
    description:
      'Which requests are traced. `parentbased_` follows the decision of a trusted proxy that sends `traceparent`, and decides by itself for the others.',
  }),
  OTEL_TRACES_SAMPLER_ARG: matching('a number, 0 to 1', isRatio, {
    default: '1',
    description: 'The share of requests that the samplers with `traceidratio` trace.',
  }),
  OTEL_BSP_SCHEDULE_DELAY: count(5_000, {
    maximum: TIMER_MS_MAX,
    description: 'The milliseconds after which spans are sent, unless a batch is full before.',
  }),
  OTEL_BSP_EXPORT_TIMEOUT: count(30_000, {
    maximum: TIMER_MS_MAX,
    description:
      'The milliseconds after which the next batch is sent although the last one has not been answered.',
  }),
  OTEL_BSP_MAX_QUEUE_SIZE: count(16_384, {
    maximum: 1_000_000,
    description:
      'The most spans that wait. Further ones are dropped, and counted by `trunkline_spans_dropped_total`.',
  }),
  OTEL_BSP_MAX_EXPORT_BATCH_SIZE: count(512, {
    maximum: 16_384,
    description: 'The most spans of a batch.',
  }),
  OTEL_SERVICE_NAME: Type.Optional(
    text({ description: 'The name of the gateway in traces.', whenAbsent: '`trunkline`' }),
  ),
  OTEL_RESOURCE_ATTRIBUTES: Type.Optional(
    matching(PAIRS, arePairs, {
      description: 'What else traces say of the gateway.',
      examples: ['deployment.environment.name=staging'],
    }),
  ),
  OTEL_SDK_DISABLED: oneOf(['true', 'false'], {
    default: 'false',
    description: '`true` switches tracing off, whatever else is set.',
  }),
}

/** What may be set as well, and is read by the exporter alone. */
export const TRACE_VARIABLES_OF_EXPORTER = [
  'OTEL_EXPORTER_OTLP_TRACES_HEADERS',
  'OTEL_EXPORTER_OTLP_TRACES_COMPRESSION',
  'OTEL_EXPORTER_OTLP_TRACES_TIMEOUT',
  'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL',
]

/** How traces are recorded. Where and how they are sent is read by the exporter itself. */
export type TracingConfig = NonNullable<ReturnType<typeof tracingOf>> & {
  /** The addresses and ranges of proxies whose `traceparent` is the parent of a request. */
  readonly trustedProxies: readonly string[]
}

type Variables = Static<ReturnType<typeof schema>>
const schema = () => Type.Object(TRACE_VARIABLES)

/** Whether traces are to be sent. An environment may have other `OTEL_` variables for other programs, which then mean nothing. */
export function isTraced(env: NodeJS.ProcessEnv): boolean {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: ofTraces } = env
  return Boolean(endpoint || ofTraces) && env.OTEL_SDK_DISABLED?.toLowerCase() !== 'true'
}

/** Undefined where no traces are sent. */
export function tracingOf(variables: Variables) {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: ofTraces } = variables
  if ((endpoint ?? ofTraces) === undefined || variables.OTEL_SDK_DISABLED === 'true') return undefined
  return {
    sampler: variables.OTEL_TRACES_SAMPLER,
    ratio: Number(variables.OTEL_TRACES_SAMPLER_ARG),
    queue: {
      scheduledDelayMillis: variables.OTEL_BSP_SCHEDULE_DELAY,
      exportTimeoutMillis: variables.OTEL_BSP_EXPORT_TIMEOUT,
      maxQueueSize: variables.OTEL_BSP_MAX_QUEUE_SIZE,
      maxExportBatchSize: variables.OTEL_BSP_MAX_EXPORT_BATCH_SIZE,
    },
  }
}

function isRatio(word: string): boolean {
  return /^(?:\d+|\d*\.\d+)$/.test(word) && Number(word) <= 1
}

/** As the baggage header has them: what is not plain is percent-encoded. */
function arePairs(list: string): boolean {
  return list.split(',').every((pair) => /^\s*[^\s=,;]+\s*=[^,]*$/.test(pair) && isEncoded(pair))
}

function isEncoded(pair: string): boolean {
  return !/%(?![0-9a-f]{2})/i.test(pair)
}
