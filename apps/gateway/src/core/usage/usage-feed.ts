import type { Sql } from '#core/database/database.ts'
import { type ErrorReason, fail, Problem } from '#core/errors.ts'
import { LatestValue } from '#core/latest-value.ts'
import { PeriodicRead } from '#core/periodic-read.ts'
import type { Principal } from '#core/principal.ts'
import type { Runtime } from '#core/runtime.ts'
import { readTodayUsage, type UsageUpdate } from './usage-today.ts'

/**
 * Live usage. One statement in each tick serves all subscriptions of the process, however many there are, and none is sent
 * while there is no subscription. It reads the database, so that every process sees the calls of all of them.
 */
export interface UsageFeed {
  /**
   * Returns the current usage and then each change of it, at most one in each tick. A reader that is slower gets the latest.
   * The iteration ends with a Problem when the caller's credential is no longer valid or the process drains, and continues
   * after an outage of the database.
   *
   * @throws Problem `draining`, `unavailable`, `rate_limited`
   */
  subscribe(caller: Principal): AsyncIterableIterator<UsageUpdate, undefined>
  /** Ends all subscriptions with `draining` and refuses new ones. */
  close(): void
}

export interface UsageFeedDeps {
  readonly sql: Sql
  readonly runtime: Pick<Runtime, 'now' | 'elapsedMs'>
  /** Called when the feed can no longer read the usage, and when it can again. */
  readonly onAnswer: (answers: boolean, error?: unknown) => void
  readonly tickMs?: number
  readonly subscriptionsMax?: number
  /** The most of one credential, so that it cannot take all of them. */
  readonly perCredentialMax?: number
}

/** The subscriptions of one credential, which all get the same updates. */
interface Watch {
  readonly caller: Principal
  readonly subscriptions: Set<LatestValue<UsageUpdate>>
  /** The last update as text. */
  sent: string
}

const TICK_MS = 500
const SUBSCRIPTIONS_MAX = 10_000
const PER_CREDENTIAL_MAX = 2_000

export function createUsageFeed(deps: UsageFeedDeps): UsageFeed {
  const { sql, runtime, onAnswer, tickMs = TICK_MS } = deps
  const { subscriptionsMax = SUBSCRIPTIONS_MAX, perCredentialMax = PER_CREDENTIAL_MAX } = deps
  const watches = new Map<string, Watch>()
  let subscribed = 0
  let isClosed = false
  const isNeeded = () => watches.size > 0
  const reads = new PeriodicRead({
    ...{ everyMs: tickMs, runtime, onAnswer, isNeeded, read },
    onPeriod: endExpired,
  })

  async function read(): Promise<void> {
    const read = [...watches.values()]
    const callers = read.map(({ caller }) => caller)
    const usage = await readTodayUsage(sql, callers)
    for (const [index, watch] of read.entries()) deliver(watch, usage[index])
  }

  /** Also while a read is running, because a database that hangs would otherwise prolong the tokens. */
  function endExpired(): void {
    const now = runtime.now()
    for (const watch of watches.values()) {
      const { via } = watch.caller
      if (via.kind === 'token' && via.expiresAt <= now) end(watch, 'token_expired')
    }
  }

  function end({ subscriptions }: Watch, reason: ErrorReason): void {
    for (const subscription of [...subscriptions]) subscription.fail(new Problem(reason))
  }

  function deliver(watch: Watch, usage: UsageUpdate | ErrorReason | undefined): void {
    if (usage === undefined) return
    if (typeof usage === 'string') {
      end(watch, usage)
      return
    }
    const text = JSON.stringify(usage)
    for (const subscription of watch.subscriptions) {
      if (text !== watch.sent || !subscription.wasSet) subscription.set(usage)
    }
    watch.sent = text
  }

  return {
    subscribe(caller) {
      if (isClosed) fail('draining')
      if (subscribed >= subscriptionsMax) fail('unavailable', TOO_MANY)
      const id = credentialOf(caller)
      const watch = watches.get(id) ?? { caller, subscriptions: new Set(), sent: '' }
      if (watch.subscriptions.size >= perCredentialMax) fail('rate_limited', TOO_MANY_OF_CREDENTIAL)
      const subscription = new LatestValue<UsageUpdate>(() => {
        subscribed -= 1
        watch.subscriptions.delete(subscription)
        if (watch.subscriptions.size > 0) return
        watches.delete(id)
        if (!isNeeded()) reads.stop()
      })
      subscribed += 1
      watch.subscriptions.add(subscription)
      // The first one does not wait for a tick, unless the previous one has just left.
      if (!isNeeded()) reads.start()
      watches.set(id, watch)
      return subscription
    },
    close() {
      isClosed = true
      for (const watch of [...watches.values()]) end(watch, 'draining')
    },
  }
}

/** Callers with the same credential have the same usage, and it ends for all of them at once. */
function credentialOf({ userId, via }: Principal): string {
  return via.kind === 'key' ? `key ${via.keyId}` : `token ${userId} ${via.tokenId}`
}

const TOO_MANY_OF_CREDENTIAL = {
  detail: 'The credential has as many subscriptions as it may.',
  retryAfterSeconds: 5,
}
const TOO_MANY = { detail: 'This gateway has as many subscriptions as it can.', retryAfterSeconds: 5 }
