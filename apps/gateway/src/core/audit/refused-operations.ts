import { markRejectionHandled } from '#core/base/async/mark-rejection-handled.ts'
import { networkOf } from '#core/limits/network-of.ts'
import { credentialId, type Principal } from '#core/requests/principal.ts'
import { whoIs } from './actor.ts'
import type { Audit } from './audit.ts'

/** An operation that a known caller may not do. */
export interface RefusedOperation {
  readonly caller: Principal
  /** The route or the field of the GraphQL schema. */
  readonly operation: string
  readonly reason: string
}

/** Records refused operations in the background: the caller is answered meanwhile. */
export type RefusedOperations = ReturnType<typeof createRefusedOperations>

/** The most events that wait for the database; further ones are dropped. */
const WAITING_MAX = 1_000

export function createRefusedOperations({
  audit,
  onDropped,
}: {
  readonly audit: Pick<Audit, 'appendBounded'>
  /** Called for an event that was not stored. */
  onDropped(): void
}) {
  let waiting = 0
  let last = markRejectionHandled(Promise.resolve())

  async function append({ caller, operation, reason }: RefusedOperation): Promise<void> {
    const { address } = caller.origin ?? {}
    try {
      await audit.appendBounded(whoIs(caller), { operation, result: 'refused', reason }, [
        // A user may have a thousand keys.
        { kind: 'user', id: caller.userId },
        { kind: 'credential', id: credentialId(caller) },
        ...(address === undefined ? [] : [{ kind: 'address' as const, id: networkOf(address) }]),
      ])
    } catch {
      onDropped()
    } finally {
      waiting -= 1
    }
  }

  return {
    record(refused: RefusedOperation): void {
      if (waiting >= WAITING_MAX) {
        onDropped()
        return
      }
      waiting += 1
      // One after the other: all of them wait for the row of the head anyway.
      last = markRejectionHandled(last.then(() => append(refused)))
    },
    /** Resolves when what was recorded is stored or dropped. */
    settled: (): Promise<void> => last,
  }
}
