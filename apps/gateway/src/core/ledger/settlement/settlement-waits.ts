/** One reader who waits for the settlement of a call. */
export interface SettlementWait {
  /** Resolves when the settlement has been written or has finally failed. After {@link leave} it never resolves. */
  readonly written: Promise<void>
  /** Must be called by every reader at the end, because the settlement may have been written before it began to wait. */
  leave(): void
}

/** The readers that wait for settlements, by call. A call without such readers takes no memory. */
export class SettlementWaits extends Map<string, Set<() => void>> {
  begin(callId: string): SettlementWait {
    const { promise: written, resolve } = Promise.withResolvers<void>()
    const waits = this.get(callId) ?? new Set()
    this.set(callId, waits.add(resolve))
    return {
      written,
      leave: () => {
        waits.delete(resolve)
        if (waits.size === 0 && this.get(callId) === waits) this.delete(callId)
      },
    }
  }

  end(callId: string): void {
    const waits = this.get(callId)
    if (waits === undefined) return
    this.delete(callId)
    for (const resolve of waits) resolve()
  }
}
