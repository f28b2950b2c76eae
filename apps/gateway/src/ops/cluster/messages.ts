import type { Worker } from 'node:cluster'
import type { Registry } from 'prom-client'

/** All metrics of a process at one moment, as prom-client lists them. */
export type Report = Awaited<ReturnType<Registry['getMetricsAsJSON']>>

/** What a worker sends to its primary. Of a configuration only `config` knows the form. */
export type WorkerMessage =
  /** Who the worker is: the id of its instance. */
  | { readonly kind: 'worker'; readonly instance: string }
  /** The worker's metrics; `id` is that of the request that they answer. */
  | { readonly kind: 'report'; readonly report: Report; readonly id: number | undefined }
  /** Requests the metrics of all workers. */
  | { readonly kind: 'metrics?'; readonly id: number }
  /** Requests the configuration that all workers serve, or has the file read anew. */
  | { readonly kind: 'configuration?'; readonly id: number; readonly isAnew: boolean }
  /** The worker serves another configuration now, as the others should. */
  | { readonly kind: 'served'; readonly document: unknown }

/** What the primary sends to a worker. */
export type PrimaryMessage =
  /** Requests a report. */
  | { readonly kind: 'report?'; readonly id: number }
  /** The metrics of all workers, as text. */
  | { readonly kind: 'metrics'; readonly answers: number; readonly text: string }
  /** A configuration, or what is wrong with the file. */
  | {
      readonly kind: 'configuration'
      readonly answers: number
      readonly document: unknown
      readonly issues: readonly string[]
    }
  /** Another worker serves this configuration now, as this one should. */
  | { readonly kind: 'serve'; readonly document: unknown }
  /** An operator has sent the signal to reload the configuration. */
  | { readonly kind: 'reload' }

/** Only these processes write to the channel, so a message of a kind has the form of that kind. Node's own have none. */
export function isMessage<Message extends WorkerMessage | PrimaryMessage, Kind extends Message['kind']>(
  kind: Kind,
  message: unknown,
): message is Extract<Message, { kind: Kind }> {
  return typeof message === 'object' && message !== null && 'kind' in message && message.kind === kind
}

/** In the primary: the worker may have ended in the meantime, so a failure is ignored; without a callback it would be an `error` event. */
export function sendTo(worker: Worker, message: PrimaryMessage): void {
  if (worker.isConnected()) worker.send(message, () => undefined)
}
