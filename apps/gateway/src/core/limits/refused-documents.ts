import type { Runtime } from '#core/runtime.ts'
import { BoundedMap } from '#core/values/bounded-map.ts'
import type { Limits } from './limits.ts'
import { networkOf } from './network-of.ts'

/** Counts the documents that were refused by the network of their senders, and closes the door to networks that send too many. */
export interface RefusedDocuments {
  /** Counts one document from this address. */
  count(address: string): Promise<void>
  /** The seconds for which documents from this address are refused unread; undefined if they are read. It asks no store. */
  closedSeconds(address: string): number | undefined
}

export interface RefusedDocumentsDeps {
  readonly limits: Pick<Limits, 'refusedDocuments'>
  readonly runtime: Pick<Runtime, 'now'>
}

export function createRefusedDocuments({ limits, runtime }: RefusedDocumentsDeps): RefusedDocuments {
  /**
   * When each closed network is open again. The counts themselves outlive an entry that is lost when the map is full: the next
   * refused document of that network closes it again.
   */
  const closedUntilMs = new BoundedMap<string, number>(NETWORKS_MAX)
  return {
    async count(address) {
      const network = networkOf(address)
      const { allowed, remaining, resetSeconds } = await limits.refusedDocuments.take(network)
      if (allowed && remaining > 0) return
      closedUntilMs.set(network, runtime.now().getTime() + resetSeconds * 1_000)
    },
    closedSeconds(address) {
      // The usual case costs nothing.
      if (closedUntilMs.size === 0) return undefined
      const network = networkOf(address)
      const untilMs = closedUntilMs.get(network)
      if (untilMs === undefined) return undefined
      const msLeft = untilMs - runtime.now().getTime()
      if (msLeft > 0) return Math.ceil(msLeft / 1_000)
      closedUntilMs.delete(network)
      return undefined
    },
  }
}

const NETWORKS_MAX = 10_000
