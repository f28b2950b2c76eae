import { Redis } from 'ioredis'

/**
 * Opens a connection that never blocks its callers: while it is down, commands fail at once, and it reconnects by itself.
 * Its `error` events are ignored, because the users of the connection report failures themselves; without a listener they
 * would end the process.
 */
export function connectRedis(url: string): Redis {
  const redis = new Redis(url, {
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    connectTimeout: 2_000,
    retryStrategy: (attempt) => Math.min(attempt * 100, 1_000),
  })
  redis.on('error', () => undefined)
  return redis
}
