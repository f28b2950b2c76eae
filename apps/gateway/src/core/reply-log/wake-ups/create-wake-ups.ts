import type { Redis } from 'ioredis'
import type { Runtime } from '#core/base/runtime.ts'
import type { Database } from '#core/database/database.ts'
import type { Channel } from './channel.ts'
import { Listeners } from './listeners.ts'
import { readMessage, SENDER_BYTES, senderOf, shortId } from './messages.ts'
import { postgresChannel } from './postgres-channel.ts'
import { redisChannel } from './redis-channel.ts'
import { Sender } from './sender.ts'
import { TestedSubscription } from './tested-subscription.ts'
import type { WakeUps } from './wake-ups.ts'

export interface WakeUpsDeps {
  readonly database: Pick<Database, 'sql' | 'listen'>
  /** The shared connection, if there is one. Messages are then never sent through the database, also while Redis is down. */
  readonly redis?: Redis | undefined
  /** Identifies the database among those that share the Redis. Only called when something is sent or listened to. */
  readonly installation: () => string
  readonly runtime: Pick<Runtime, 'randomBytes'>
  readonly observer: WakeUpsObserver
}

export interface WakeUpsObserver {
  /** Called when messages of other processes cease to arrive while they are needed, and when they arrive again. */
  wakeUpsArrive(arrive: boolean, error?: unknown): void
}

/** Opens no connection until something listens. An embedded database has one process, which needs none. */
export function createWakeUps({
  database: { sql, listen },
  redis,
  installation,
  runtime,
  observer,
}: WakeUpsDeps): WakeUps {
  if (listen === undefined) return localWakeUps(new Listeners())
  const channel = redis === undefined ? postgresChannel({ sql, listen }) : redisChannel(redis, installation)
  return sharedWakeUps({ channel, runtime, observer })
}

function localWakeUps(listeners: Listeners): WakeUps {
  return {
    isTrusted: true,
    send: (kind, callIds) => listeners.wake(kind, callIds.map(shortId)),
    listen: (kind, callId, wake) => listeners.add(kind, shortId(callId), wake),
    close: () => Promise.resolve(),
  }
}

/** Wakes the listeners of this process at once, and those of others through the channel. */
export function sharedWakeUps({
  channel,
  runtime,
  observer,
}: Pick<WakeUpsDeps, 'runtime' | 'observer'> & { readonly channel: Channel }): WakeUps {
  const listeners = new Listeners()
  const name = senderOf(runtime.randomBytes(SENDER_BYTES))
  const sender = new Sender(channel, name)
  const subscription = new TestedSubscription({
    channel,
    runtime,
    isNeeded: () => !listeners.isEmpty,
    onMessage(text) {
      const message = readMessage(text)
      // Listeners of this process were woken when it was sent.
      if (message === undefined || message.sender === name) return
      listeners.wake(message.kind, message.ids)
    },
    onArrival: (arrive, error) => observer.wakeUpsArrive(arrive, error),
  })
  let isClosed = false
  return {
    get isTrusted() {
      return subscription.isTrusted
    },
    send(kind, callIds) {
      const ids = callIds.map(shortId)
      listeners.wake(kind, ids)
      if (!isClosed) sender.send(kind, ids)
    },
    listen(kind, callId, wake) {
      const end = listeners.add(kind, shortId(callId), wake)
      subscription.start()
      return end
    },
    async close() {
      isClosed = true
      await subscription.close()
    },
  }
}
