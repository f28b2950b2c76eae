import type { Subscription } from '#core/database/database.ts'

/** Sends short messages between processes. A message that is sent while a process does not listen does not reach it. */
export interface Channel {
  /** The most call ids in one message. */
  readonly idsPerMessage: number
  /** Whether the connection for sending is open, as far as this process knows. */
  readonly canPublish: boolean
  /** Rejects if a message was not sent. */
  publish(messages: readonly string[]): Promise<void>
  subscribe(onMessage: (message: string) => void): Subscription
}
