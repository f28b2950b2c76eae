import { markRejectionHandled } from '#core/base/async/mark-rejection-handled.ts'
import type { Channel } from './channel.ts'
import { writeMessages } from './messages.ts'
import type { WakeUpKind } from './wake-ups.ts'

/** The most ids of a kind that wait while a message is being sent. */
const WAITING_MAX = 10_000

/**
 * Sends one batch at a time. What comes meanwhile forms the next one, in which a call is named once; what does not fit is
 * dropped, and so is a batch that cannot be sent.
 */
export class Sender {
  readonly #channel: Channel
  readonly #name: string
  readonly #waiting: Record<WakeUpKind, Set<string>> = { log: new Set(), stop: new Set() }
  #isSending = false

  constructor(channel: Channel, name: string) {
    this.#channel = channel
    this.#name = name
  }

  /** @param ids - short ids */
  send(kind: WakeUpKind, ids: readonly string[]): void {
    const waiting = this.#waiting[kind]
    for (const id of ids) {
      if (waiting.size >= WAITING_MAX) break
      waiting.add(id)
    }
    if (!this.#isSending) markRejectionHandled(this.#sendAll())
  }

  async #sendAll(): Promise<void> {
    this.#isSending = true
    for (let messages = this.#take(); messages.length > 0; messages = this.#take()) {
      try {
        await this.#channel.publish(messages)
      } catch {
        // It was only a hint, and the next one comes soon.
      }
    }
    this.#isSending = false
  }

  #take(): string[] {
    const { stop, log } = this.#waiting
    const messages = [...this.#write('stop', stop), ...this.#write('log', log)]
    stop.clear()
    log.clear()
    return messages
  }

  #write(kind: WakeUpKind, ids: ReadonlySet<string>): string[] {
    return writeMessages({ kind, sender: this.#name, ids: [...ids] }, this.#channel.idsPerMessage)
  }
}
