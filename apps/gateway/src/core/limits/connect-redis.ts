import { Redis } from 'ioredis'

/**
 * A connection that never makes anybody wait: commands fail at once while it is down, and it comes back by itself.
 * Errors are told by what depends on it; unheard, they would end the process.
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
