import type { Problem } from '#core/base/errors/errors.ts'
import { REFUSAL_KINDS, type RefusalKind } from '#core/refusals/refusal-recorder.ts'
import { ClientLabels, type ClientVersion } from '#ops/client-version.ts'
import type { Instruments } from './instruments.ts'

const REQUEST_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300]

/** Counts what arrives: requests of HTTP, and the operations of GraphQL within them. */
export function createRequestMetrics({ counter, gauge, histogram }: Instruments) {
  let subscriptions = 0
  let connections: { readonly open: number } | undefined
  const requests = counter('trunkline_http_requests_total', 'Requests by route, method and status.', [
    'route',
    'method',
    'status',
  ])
  const seconds = histogram(
    'trunkline_http_request_duration_seconds',
    'Time from the request to the end of the response.',
    ['route'],
    REQUEST_SECONDS,
  )
  const sdkLabels = new ClientLabels()
  const sdkRequests = counter(
    'trunkline_sdk_requests_total',
    'Requests of SDKs, by language and version without its last part; versions after the first hundred are other.',
    ['client'],
  )
  const refusals = counter(
    'trunkline_refusals_total',
    'Requests answered with an error, by reason, and by the limit that was reached or the part that was not available.',
    ['reason', 'limit'],
  )
  const unavailable = counter(
    'trunkline_unavailable_total',
    'Requests that were refused as unavailable, by the part that was not available.',
    ['cause'],
  )
  const refusalsDropped = counter(
    'trunkline_refusals_dropped_total',
    'Refusals that are not on record, because there was no room for them or they could not be written.',
    ['kind'],
  )
  for (const kind of REFUSAL_KINDS) refusalsDropped.add(0, kind)
  const auditDropped = counter(
    'trunkline_audit_dropped_total',
    'Refused operations that are not in the audit log, because too many were waiting or they could not be written.',
  )
  auditDropped.add(0)
  const spansDropped = counter(
    'trunkline_spans_dropped_total',
    'Spans that were dropped because too many were waiting, or because the collector did not take them.',
  )
  spansDropped.add(0)
  const operations = counter(
    'trunkline_graphql_operations_total',
    'GraphQL operations that have ended, by type and name; names after the first hundred are (other).',
    ['type', 'name'],
  )
  const operationSeconds = histogram(
    'trunkline_graphql_operation_duration_seconds',
    'Time of a GraphQL operation, of a subscription until it ends.',
    ['type'],
    REQUEST_SECONDS,
  )
  const errors = counter('trunkline_graphql_errors_total', 'Errors in GraphQL results, by code.', ['code'])
  gauge('trunkline_graphql_subscriptions', 'GraphQL subscriptions that are open.', () => subscriptions)
  const idleClosed = counter(
    'trunkline_idle_connections_closed_total',
    'Idle connections that were closed to make room for others, while connections were at their bound.',
  )
  idleClosed.add(0)
  gauge('trunkline_connections', 'Connections of clients that are open.', () => connections?.open ?? 0)

  return {
    request(route: string, method: string, status: number, took: number): void {
      requests.add(1, route, method, String(status))
      seconds.add(took, route)
    },
    /** Counts a request of an SDK, by its version. */
    sdkRequest: (client: ClientVersion): void => sdkRequests.add(1, sdkLabels.of(client)),
    /** Counts a request that was answered with an error. */
    refused({ reason, limit }: Pick<Problem, 'reason' | 'limit'>): void {
      refusals.add(1, reason, limit)
      if (reason === 'unavailable') unavailable.add(1, limit)
    },
    /** Counts refusals that are not on record. */
    refusalsDropped: (kind: RefusalKind, dropped: number): void => refusalsDropped.add(dropped, kind),
    /** Counts a refused operation that is not in the audit log. */
    auditDropped: (): void => auditDropped.add(1),
    /** Counts spans that the collector did not get. */
    spansDropped: (count: number): void => spansDropped.add(count),
    /** Counts a GraphQL operation; the caller bounds the number of names. */
    graphqlOperation(type: string, name: string, took: number): void {
      operations.add(1, type, name)
      operationSeconds.add(took, type)
    },
    graphqlError: (code: string): void => errors.add(1, code),
    subscriptionStarted(): void {
      subscriptions += 1
    },
    subscriptionEnded(): void {
      subscriptions -= 1
    },
    /** Counts an idle connection that was closed to make room for another. */
    idleConnectionClosed: (): void => idleClosed.add(1),
    /** Shows the connections that clients have open. */
    watchConnections(watched: { readonly open: number }): void {
      connections = watched
    },
  }
}
