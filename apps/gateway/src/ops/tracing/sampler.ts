import { type Context, SpanKind, trace } from '@opentelemetry/api'
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  type Sampler,
  SamplingDecision,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace'
import type { TracingSettings } from './tracing.ts'

/** The sampler that the configuration names, for requests and what is below them. */
export function samplerOf({ sampler, ratio }: Pick<TracingSettings, 'sampler' | 'ratio'>): Sampler {
  const [, isParentBased, kind] = /^(parentbased_)?(.*)$/.exec(sampler) ?? []
  const root =
    kind === 'always_off'
      ? new AlwaysOffSampler()
      : kind === 'traceidratio'
        ? new TraceIdRatioBasedSampler(ratio)
        : new AlwaysOnSampler()
  return new BatchesOfSampled(isParentBased === undefined ? root : new ParentBasedSampler({ root }))
}

/** A batch of the ledger is a trace of its own, which begins only if one of its calls is sampled. So it is sampled then. */
class BatchesOfSampled implements Sampler {
  readonly #ofRequests: Sampler

  constructor(ofRequests: Sampler) {
    this.#ofRequests = ofRequests
  }

  shouldSample(...[context, traceId, name, kind, attributes, links]: Parameters<Sampler['shouldSample']>) {
    if (kind === SpanKind.INTERNAL && isRoot(context))
      return { decision: SamplingDecision.RECORD_AND_SAMPLED }
    return this.#ofRequests.shouldSample(context, traceId, name, kind, attributes, links)
  }

  toString(): string {
    return this.#ofRequests.toString()
  }
}

function isRoot(context: Context): boolean {
  return trace.getSpanContext(context) === undefined
}
