import type { Adapter, HelperCall, UpstreamRequest } from '#core/agents/adapter.ts'
import { isObject, type JsonObject } from '#core/base/values/json.ts'
import { isPage } from './failure.ts'

type ToFailure = Adapter['toFailure']

/** Creates a helper call that succeeds if `accept` finds its result in the body. */
export function helperCall<Result>(
  request: UpstreamRequest,
  toFailure: ToFailure,
  accept: (body: JsonObject) => { ok: Result } | undefined,
): HelperCall<Result> {
  return {
    request,
    read: (status, body, header) =>
      (status < 400 && isObject(body) ? accept(body) : undefined) ?? {
        failure: toFailure(status, body, header),
      },
  }
}

/**
 * Creates a probe. A platform that is rate limited or lacks the endpoint is `degraded`; a web page, rejected
 * credentials and 5xx are failures.
 */
export function probeCall(
  request: UpstreamRequest,
  toFailure: ToFailure,
  isAvailable: (body: JsonObject) => boolean,
): HelperCall<'available' | 'degraded'> {
  const call = helperCall(request, toFailure, (body) =>
    isAvailable(body) ? { ok: 'available' as const } : undefined,
  )
  return {
    request,
    read(status, body, header) {
      const isMissing = (status === 404 || status === 405) && !isPage(body)
      const result = call.read(status, body, header)
      const isBusy = 'failure' in result && result.failure.reason === 'agent_rate_limited'
      return isMissing || isBusy ? { ok: 'degraded' } : result
    },
  }
}
