import { markRejectionHandled } from '#core/base/async/mark-rejection-handled.ts'
import type { Runtime } from '#core/base/runtime.ts'
import { networkOf } from '#core/limits/network-of.ts'
import { credentialId, type Origin, type Principal } from '#core/requests/principal.ts'
import { placeOf, whoIs } from './actor.ts'
import type { Audit } from './audit.ts'

/** An operation that a known caller may not do. */
export interface RefusedOperation {
  readonly caller: Principal
  /** The route or the field of the GraphQL schema. */
  readonly operation: string
  readonly reason: string
}

/** A request whose credential is none that the gateway knows. */
export interface RefusedCredential {
  readonly from: Origin & { readonly address: string }
  /** The route or the field of the GraphQL schema. */
  readonly operation: string
  readonly reason: string
}

/** Records refused operations and credentials in the background: the caller is answered meanwhile. */
export type RefusedOperations = ReturnType<typeof createRefusedOperations>

/** The most events that wait for the database; further ones are dropped. */
const WAITING_MAX = 1_000
/** A program that repeats a wrong key is one event in this time, so that a flood costs the database nothing. */
const CREDENTIAL_EVERY_MS = 60_000
/** The most addresses of which one is recorded in that time. */
const ADDRESSES_MAX = 1_000

export function createRefusedOperations({
  audit,
  runtime,
  onDropped,
}: {
  readonly audit: Pick<Audit, 'appendBounded'>
  readonly runtime: Pick<Runtime, 'elapsedMs'>
  /** Called for an event that was not stored. */
  onDropped(): void
}) {
  let waiting = 0
  let last = markRejectionHandled(Promise.resolve())

  const noted = new Set<string>()
  let notedSinceMs = Number.NEGATIVE_INFINITY

  function append({ caller, operation, reason }: RefusedOperation): Promise<void> {
    const { address } = caller.origin ?? {}
    return audit.appendBounded(whoIs(caller), { operation, result: 'refused', reason }, [
      // A user may have a thousand keys.
      { kind: 'user', id: caller.userId },
      { kind: 'credential', id: credentialId(caller) },
      ...(address === undefined ? [] : [{ kind: 'address' as const, id: networkOf(address) }]),
    ])
  }

  /** Strangers may have any number of addresses, so that what they cause is bounded for all of them together as well. */
  function appendCredential({ from, operation, reason }: RefusedCredential): Promise<void> {
    return audit.appendBounded(
      { actor: 'anonymous', ...placeOf(from) },
      { operation: 'authenticate', result: 'failed', reason, after: { operation } },
      [{ kind: 'address', id: networkOf(from.address) }],
      'address',
    )
  }

  /** One after the other: all of them wait for the row of the head anyway. */
  function inTurn(work: () => Promise<void>): void {
    waiting += 1
    const done = () => {
      waiting -= 1
    }
    last = markRejectionHandled(last.then(work).catch(onDropped).finally(done))
  }

  /** Whether an event of this network was recorded in the last minute, or none of it can be remembered. */
  function wasNoted(network: string): boolean {
    const nowMs = runtime.elapsedMs()
    if (nowMs - notedSinceMs >= CREDENTIAL_EVERY_MS) {
      noted.clear()
      notedSinceMs = nowMs
    }
    if (noted.has(network) || noted.size >= ADDRESSES_MAX) return true
    noted.add(network)
    return false
  }

  return {
    record(refused: RefusedOperation): void {
      if (waiting >= WAITING_MAX) onDropped()
      else inTurn(() => append(refused))
    },
    /** Records at most one a minute of each address. What is left out does not count as dropped, since only a sample is kept. */
    recordCredential(refused: RefusedCredential): void {
      if (waiting >= WAITING_MAX || wasNoted(networkOf(refused.from.address))) return
      inTurn(() => appendCredential(refused).catch(() => undefined))
    },
    /** Resolves when what was recorded is stored or dropped. */
    settled: (): Promise<void> => last,
  }
}
