import type { Runtime } from '#core/base/runtime.ts'
import { BoundedMap } from '#core/base/values/bounded-map.ts'
import { credentialId, type Principal } from '#core/requests/principal.ts'
import type { Limits } from './limits.ts'
import { networkOf } from './network-of.ts'

/** The sender of a document: a caller with a valid credential, or an address, with an invalid credential or none. */
export type DocumentSender =
  | { readonly kind: 'caller'; readonly caller: Principal }
  | { readonly kind: 'invalid credential' | 'stranger'; readonly address: string }

/**
 * Counts the documents that were refused, each kind of sender by itself: the network of strangers, the same network with
 * credentials that are not valid, and each valid credential. A page that goes on sending an expired token must not close the
 * door to those who share its address.
 */
export type RefusedDocuments = ReturnType<typeof createRefusedDocuments>

export interface RefusedDocumentsDeps {
  readonly limits: Pick<Limits, 'refusedDocuments'>
  readonly runtime: Pick<Runtime, 'now'>
}

export function createRefusedDocuments({ limits, runtime }: RefusedDocumentsDeps) {
  /**
   * When each closed sender may send again. The counts themselves outlive an entry that is lost when the map is full: the next
   * refused document of that sender closes it again.
   */
  const closedUntilMs = new BoundedMap<string, number>(SENDERS_MAX)
  const secondsLeft = (key: string): number | undefined => {
    const untilMs = closedUntilMs.get(key)
    if (untilMs === undefined) return undefined
    const msLeft = untilMs - runtime.now().getTime()
    if (msLeft > 0) return Math.ceil(msLeft / 1_000)
    closedUntilMs.delete(key)
    return undefined
  }
  return {
    /** Counts one document of this sender. */
    async count(sender: DocumentSender): Promise<void> {
      const key = keyOf(sender)
      const { allowed, remaining, resetSeconds } = await limits.refusedDocuments.take(key)
      if (allowed && remaining > 0) return
      closedUntilMs.set(key, runtime.now().getTime() + resetSeconds * 1_000)
    },
    /** The seconds for which documents of this sender are refused unread; undefined if they are read. It asks no store. */
    closedSeconds(sender: DocumentSender): number | undefined {
      // The usual case costs nothing.
      if (closedUntilMs.size === 0) return undefined
      const seconds = secondsLeft(keyOf(sender))
      // An address that is refused without a credential is refused with an invalid one as well.
      if (seconds !== undefined || sender.kind !== 'invalid credential') return seconds
      return secondsLeft(networkOf(sender.address))
    },
  }
}

function keyOf(sender: DocumentSender): string {
  switch (sender.kind) {
    case 'caller':
      return credentialId(sender.caller)
    case 'invalid credential':
      return `${networkOf(sender.address)} with a credential`
    case 'stranger':
      return networkOf(sender.address)
  }
}

const SENDERS_MAX = 10_000
