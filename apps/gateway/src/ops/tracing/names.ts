/*
 * All names in the traces of the gateway. Those that are not ours are OpenTelemetry's; a test compares them with its semantic
 * conventions. The conventions for generative AI have since moved to a repository that no package is published from, so that
 * `@opentelemetry/semantic-conventions` has their last state before that.
 */

/** Attributes by OpenTelemetry's conventions. */
export const CONVENTIONAL = {
  method: 'http.request.method',
  route: 'http.route',
  status: 'http.response.status_code',
  error: 'error.type',
  operation: 'gen_ai.operation.name',
  provider: 'gen_ai.provider.name',
  agent: 'gen_ai.agent.id',
  conversation: 'gen_ai.conversation.id',
  model: 'gen_ai.response.model',
  finishReasons: 'gen_ai.response.finish_reasons',
  inputTokens: 'gen_ai.usage.input_tokens',
  outputTokens: 'gen_ai.usage.output_tokens',
  batchSize: 'db.operation.batch.size',
  serviceName: 'service.name',
  serviceVersion: 'service.version',
  serviceInstance: 'service.instance.id',
} as const

/** Attributes of our own. */
export const OWN = {
  call: 'trunkline.call_id',
  deployment: 'trunkline.deployment',
  attempt: 'trunkline.attempt',
  outcome: 'trunkline.outcome',
  queuedMs: 'trunkline.queued_ms',
  storage: 'trunkline.storage',
  bytes: 'trunkline.upload.bytes',
} as const

/** The value of `gen_ai.operation.name`. */
export const INVOKE_AGENT = 'invoke_agent'

/** The names of spans. Each part is from the code or the configuration, so that there is a bounded number of them. */
export const SPANS = {
  /** Of a path that no route has, the method alone. */
  request: (method: string, route: string | undefined) =>
    route === undefined ? method : `${method} ${route}`,
  attempt: (agent: string) => `${INVOKE_AGENT} ${agent}`,
  storing: 'store file',
  batch: (statement: string) => `ledger ${statement}`,
} as const

export const EVENTS = { queued: 'queued', firstChunk: 'first_chunk' } as const
