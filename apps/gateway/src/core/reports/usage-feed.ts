import { setImmediate } from 'node:timers/promises'
import { AsyncQueue } from '#core/base/async/async-queue.ts'
import { PeriodicRead } from '#core/base/async/periodic-read.ts'
import { type ErrorReason, fail, Problem } from '#core/base/errors/errors.ts'
import type { Runtime } from '#core/base/runtime.ts'
import type { Sql } from '#core/database/database.ts'
import { OwnerShares } from '#core/limits/sharing/owner-shares.ts'
import type { Principal } from '#core/requests/principal.ts'
import { readTodayUsage, type UsageUpdate } from './usage-today.ts'

/**
 * Live usage. One statement in each tick serves all subscriptions of the process, however many there are, and none is sent
 * while there is no subscription. It reads the database, so that every process sees the calls of all of them.
 */
export type UsageFeed = ReturnType<typeof createUsageFeed>

export interface UsageFeedDeps {
  readonly sql: Sql
  readonly runtime: Pick<Runtime, 'now' | 'elapsedMs'>
  /** Called when the feed can no longer read the usage, and when it can again. */
  readonly onAnswer: (answers: boolean, error?: unknown) => void
  readonly tickMs?: number
  readonly quotaEveryMs?: number
  /** Of all owners together; one of them may have all but the last tenth. */
  readonly subscriptionsMax?: number
  /** The most of one credential, so that it cannot take all of them. */
  readonly perCredentialMax?: number
}

/** The subscriptions of one credential and end user, of a key also from one address, which all get the same updates. */
interface Watch {
  readonly caller: Principal
  /** Each with the update that it got last, as text. */
  readonly subscriptions: Map<AsyncQueue<UsageUpdate>, string | undefined>
  /** The totals that were sent last, as text. */
  totals: string | undefined
  /** When a change of the quota alone was sent last. */
  quotaSentMs: number
}

const TICK_MS = 500
const QUOTA_EVERY_MS = 5_000
/** Each delivery sends to a client. After so many of them the event loop serves the others first. */
const DELIVERED_AT_ONCE = 100
const SUBSCRIPTIONS_MAX = 10_000
const PER_CREDENTIAL_MAX = 2_000

export function createUsageFeed(deps: UsageFeedDeps) {
  const { sql, runtime, onAnswer, tickMs = TICK_MS, quotaEveryMs = QUOTA_EVERY_MS } = deps
  const { subscriptionsMax = SUBSCRIPTIONS_MAX, perCredentialMax = PER_CREDENTIAL_MAX } = deps
  const watches = new Map<string, Watch>()
  const perCredential = new Map<string, number>()
  const shares = new OwnerShares(subscriptionsMax)
  let isClosed = false
  const isNeeded = () => watches.size > 0
  const reads = new PeriodicRead({
    everyMs: tickMs,
    runtime,
    onAnswer,
    isNeeded,
    read,
    onPeriod: endExpired,
  })

  async function read(): Promise<void> {
    const read = [...watches.values()]
    const callers = read.map(({ caller }) => caller)
    const usage = await readTodayUsage(sql, callers)
    let delivered = 0
    for (const [index, watch] of read.entries()) {
      for (const _sent of deliver(watch, usage[index])) {
        delivered += 1
        if (delivered % DELIVERED_AT_ONCE === 0) await setImmediate()
      }
    }
  }

  /** Also while a read is running, because a database that hangs would otherwise prolong the tokens. */
  function endExpired(): void {
    const now = runtime.now()
    for (const watch of watches.values()) {
      const { via } = watch.caller
      if (via.kind === 'token' && via.expiresAt <= now) end(watch, 'token_expired')
    }
  }

  function giveBack(credential: string): void {
    const left = (perCredential.get(credential) ?? 0) - 1
    if (left > 0) perCredential.set(credential, left)
    else perCredential.delete(credential)
  }

  function end({ subscriptions }: Watch, reason: ErrorReason): void {
    for (const subscription of [...subscriptions.keys()]) subscription.fail(new Problem(reason))
  }

  /** Stops after each subscription that it has sent something to, so that the reader can pause there. */
  function* deliver(watch: Watch, usage: UsageUpdate | ErrorReason | undefined): Generator<void> {
    if (usage === undefined) return
    if (typeof usage === 'string') {
      for (const subscription of [...watch.subscriptions.keys()]) {
        yield subscription.fail(new Problem(usage))
      }
      return
    }
    const totals = JSON.stringify([usage.day, usage.totals])
    const text = `${totals} ${JSON.stringify(usage.quota)}`
    const nowMs = runtime.elapsedMs()
    const haveTotalsChanged = totals !== watch.totals
    const isDue = haveTotalsChanged || nowMs - watch.quotaSentMs >= quotaEveryMs
    for (const [subscription, last] of watch.subscriptions) {
      if (last === text || (last !== undefined && !isDue)) continue
      watch.subscriptions.set(subscription, text)
      if (last !== undefined && !haveTotalsChanged) watch.quotaSentMs = nowMs
      yield subscription.replace(usage)
    }
    watch.totals = totals
  }

  return {
    /**
     * Returns the current usage and then each change of it, at most one in each tick, and a change of the quota alone at most
     * every five seconds, because every call of any key of the user is one. A reader that is slower gets the latest. Readers
     * with the same credential and the same end user get the same object in the same tick.
     * The iteration ends with a Problem when the caller's credential is no longer valid or the process drains, and continues
     * after an outage of the database.
     *
     * @throws Problem `draining`, `unavailable`, `rate_limited`
     */
    subscribe(caller: Principal): AsyncIterableIterator<UsageUpdate, undefined> {
      if (isClosed) fail('draining')
      const refusal = shares.take(caller.userId)
      if (refusal === 'all') fail('unavailable', TOO_MANY)
      if (refusal === 'share') fail('rate_limited', TOO_MANY_OF_OWNER)
      const credential = credentialOf(caller)
      const held = perCredential.get(credential) ?? 0
      if (held >= perCredentialMax) {
        shares.giveBack(caller.userId)
        fail('rate_limited', TOO_MANY_OF_CREDENTIAL)
      }
      // A key may not allow every address that it is used from.
      const address = caller.via.kind === 'key' ? caller.origin?.address : undefined
      const id = JSON.stringify([credential, caller.endUser, address])
      const watch = watches.get(id) ?? newWatch(caller)
      perCredential.set(credential, held + 1)
      const subscription = new AsyncQueue<UsageUpdate>({
        onClose() {
          shares.giveBack(caller.userId)
          giveBack(credential)
          watch.subscriptions.delete(subscription)
          if (watch.subscriptions.size > 0) return
          watches.delete(id)
          if (!isNeeded()) reads.stop()
        },
      })
      watch.subscriptions.set(subscription, undefined)
      // The first one does not wait for a tick, unless the previous one has just left.
      if (!isNeeded()) reads.start()
      watches.set(id, watch)
      return subscription
    },
    /** Ends all subscriptions with `draining` and refuses new ones. */
    close(): void {
      isClosed = true
      for (const watch of [...watches.values()]) end(watch, 'draining')
    },
  }
}

/** The usage of all callers with the same credential ends at once. */
function credentialOf({ userId, via }: Principal): string {
  return via.kind === 'key' ? `key ${via.keyId}` : `token ${userId} ${via.tokenId}`
}

function newWatch(caller: Principal): Watch {
  return { caller, subscriptions: new Map(), totals: undefined, quotaSentMs: Number.NEGATIVE_INFINITY }
}

const TOO_MANY_OF_OWNER = {
  detail: 'The user has as many subscriptions as one may have in this gateway.',
  limit: 'subscriptions_of_owner',
  retryAfterSeconds: 5,
} as const
const TOO_MANY_OF_CREDENTIAL = {
  detail: 'The credential has as many subscriptions as it may.',
  limit: 'subscriptions_per_credential',
  retryAfterSeconds: 5,
} as const
const TOO_MANY = {
  detail: 'This gateway has as many subscriptions as it can.',
  limit: 'subscriptions',
  retryAfterSeconds: 5,
} as const
