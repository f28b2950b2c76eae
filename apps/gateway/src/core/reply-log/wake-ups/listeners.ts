import type { WakeUpKind } from './wake-ups.ts'

/** The listeners of this process, by kind and by the short id of the call. */
export class Listeners {
  readonly #byKind: Record<WakeUpKind, Map<string, Set<() => void>>> = { log: new Map(), stop: new Map() }

  get isEmpty(): boolean {
    return this.#byKind.log.size === 0 && this.#byKind.stop.size === 0
  }

  /** Returns the function that removes it again. */
  add(kind: WakeUpKind, id: string, wake: () => void): () => void {
    const byId = this.#byKind[kind]
    // Of its own, so that the same function may be added twice.
    const listener = () => wake()
    const added = byId.get(id)
    if (added === undefined) byId.set(id, new Set([listener]))
    else added.add(listener)
    return () => {
      const listeners = byId.get(id)
      listeners?.delete(listener)
      if (listeners?.size === 0) byId.delete(id)
    }
  }

  wake(kind: WakeUpKind, ids: readonly string[]): void {
    const byId = this.#byKind[kind]
    for (const id of ids) {
      const listeners = byId.get(id)
      if (listeners === undefined) continue
      for (const listener of [...listeners]) wakeOne(listener)
    }
  }
}

/** The fault of one listener must neither keep the others asleep nor reach the sender. */
function wakeOne(listener: () => void): void {
  try {
    listener()
  } catch {
    // It looks at the database by itself, only later.
  }
}
