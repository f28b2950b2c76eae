import type { Registry } from 'prom-client'

/** All metrics of a process at one moment, as prom-client lists them. */
export type Report = Awaited<ReturnType<Registry['getMetricsAsJSON']>>

/** What a worker sends to its primary. */
export type WorkerMessage =
  /** Who the worker is: the id of its instance. */
  | { readonly kind: 'worker'; readonly instance: string }
  /** The worker's metrics; `id` is that of the request that they answer. */
  | { readonly kind: 'report'; readonly report: Report; readonly id: number | undefined }
  /** Requests the metrics of all workers. */
  | { readonly kind: 'metrics?'; readonly id: number }

/** What the primary sends to a worker. */
export type PrimaryMessage =
  /** Requests a report. */
  | { readonly kind: 'report?'; readonly id: number }
  /** The metrics of all workers, as text. */
  | { readonly kind: 'metrics'; readonly id: number; readonly text: string }

/** Only these processes write to the channel, so a message of a kind has the form of that kind. Node's own have none. */
export function isMessage<Message extends WorkerMessage | PrimaryMessage, Kind extends Message['kind']>(
  kind: Kind,
  message: unknown,
): message is Extract<Message, { kind: Kind }> {
  return typeof message === 'object' && message !== null && 'kind' in message && message.kind === kind
}
