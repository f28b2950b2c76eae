/** What has changed of a call: its log was extended or ended, or it was asked to stop. */
export type WakeUpKind = 'log' | 'stop'

/**
 * Tells the processes that something was written, so that they look sooner. It is only a hint: messages may be lost, and the
 * database is the truth.
 */
export interface WakeUps {
  /** Tells all processes, this one included, in as few messages as possible. Never throws; what cannot be sent is dropped. */
  send(kind: WakeUpKind, callIds: readonly string[]): void
  /** Calls `wake` for each message about the call; returns the function that ends it. */
  listen(kind: WakeUpKind, callId: string, wake: () => void): () => void
  /** Whether messages of other processes are known to arrive. If not, readers look at the database in short periods. */
  readonly isTrusted: boolean
  /** Resolves when nothing is open any more. */
  close(): Promise<void>
}
