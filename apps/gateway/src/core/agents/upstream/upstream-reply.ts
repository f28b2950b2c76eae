import type { HeaderReader, UpstreamEvent } from '#core/agents/adapter.ts'

export interface UpstreamReply {
  /** The platform's HTTP status; undefined until the headers have arrived. */
  readonly status: number | undefined
  /**
   * Whether the first byte of the request has been written, or may have been. If it is false when the reply has failed or was
   * cancelled, it stays so, and the platform has certainly not taken the request.
   */
  readonly wasBegun: boolean
  /**
   * Returns what arrived since the last call: events as soon as there are any, the whole body if the reply is
   * not an event stream, or the end. Rejects with an {@link UpstreamError}, or with the cause passed to
   * {@link cancel}.
   */
  next(): Promise<UpstreamPart>
  /** Rejects a waiting {@link next} with `cause`; the exchange continues. */
  interrupt(cause: Error): void
  /** Closes the connection; what has arrived so far is the complete reply. */
  finish(): void
  /** Closes the connection; a waiting or later {@link next} rejects with `cause`. */
  cancel(cause: Error): void
}

export type UpstreamPart =
  | { readonly kind: 'events'; readonly events: readonly UpstreamEvent[] }
  | {
      readonly kind: 'body'
      readonly status: number
      /** Parsed JSON, or the text if it is not JSON. */
      readonly body: unknown
      readonly header: HeaderReader
    }
  | { readonly kind: 'end' }
