import type { Redis } from 'ioredis'
import { markRejectionHandled } from '#core/base/async/mark-rejection-handled.ts'
import type { Channel } from './channel.ts'

/** Bounds what one process makes another read at once, and what Redis holds of it for a slow process. */
const IDS_PER_MESSAGE = 10_000

/**
 * Messages through Redis. `redis` is shared with others and only sends; each subscription has a connection of its own, since a
 * connection that has subscribed may be refused every other command.
 *
 * @param installation - identifies the database, because several installations may share a Redis
 */
export function redisChannel(redis: Redis, installation: () => string): Channel {
  const channel = () => `trunkline:wake-ups:${installation()}`
  return {
    idsPerMessage: IDS_PER_MESSAGE,
    get canPublish() {
      return redis.status === 'ready'
    },
    async publish(messages) {
      await Promise.all(messages.map((message) => redis.publish(channel(), message)))
    },
    subscribe(onMessage) {
      const own = redis.duplicate({ lazyConnect: true, autoResubscribe: false, retryStrategy: () => null })
      const ended = new Promise<void>((resolve) => own.once('end', () => resolve()))
      own.on('error', () => undefined)
      own.on('message', (_channel, message) => onMessage(message))

      async function open(): Promise<void> {
        await own.connect()
        await own.subscribe(channel())
      }
      return {
        opened: markRejectionHandled(open()),
        ended,
        async close() {
          own.disconnect()
          await ended
        },
      }
    },
  }
}
