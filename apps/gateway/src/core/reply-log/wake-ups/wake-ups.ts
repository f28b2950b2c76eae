/** What has changed of a call: its log was extended or ended, or its stop was requested. */
export type WakeUpKind = 'log' | 'stop'

/**
 * Notifies the processes that something was written, so that they read it sooner. It is only a hint: messages may be lost, and
 * the database alone is authoritative.
 */
export interface WakeUps {
  /** Notifies all processes, this one included, in as few messages as possible. Never throws; what cannot be sent is dropped. */
  send(kind: WakeUpKind, callIds: readonly string[]): void
  /** Calls `wake` for each message about the call; returns the function that ends it. */
  listen(kind: WakeUpKind, callId: string, wake: () => void): () => void
  /** Whether messages of other processes are known to arrive. If not, readers look at the database in short periods. */
  readonly isTrusted: boolean
  /** Resolves when all connections are closed. */
  close(): Promise<void>
}
