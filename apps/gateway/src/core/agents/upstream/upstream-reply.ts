import type { HeaderReader, UpstreamEvent } from '#core/agents/adapter.ts'

export interface UpstreamReply {
  /** The platform's HTTP status; undefined as long as it has not answered. */
  readonly status: number | undefined
  /**
   * What came since the last call: events as soon as there are any, a whole body where the reply is no event stream,
   * or the end of the bytes. Rejects with an {@link UpstreamError}, or with what {@link cancel} was given.
   */
  next(): Promise<UpstreamPart>
  /** A waiting {@link next} rejects with `cause`; the exchange goes on. */
  interrupt(cause: Error): void
  /** Closes the connection: what has come so far was all. */
  finish(): void
  /** Closes the connection; a waiting or later {@link next} rejects with `cause`. */
  cancel(cause: Error): void
}

export type UpstreamPart =
  | { readonly kind: 'events'; readonly events: readonly UpstreamEvent[] }
  | {
      readonly kind: 'body'
      readonly status: number
      /** Parsed where it is JSON, else the text. */
      readonly body: unknown
      readonly header: HeaderReader
    }
  | { readonly kind: 'end' }
