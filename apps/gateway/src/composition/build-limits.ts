import type { Redis } from 'ioredis'
import { atAddressOf } from '#core/base/values/at-address-of.ts'
import { connectRedis } from '#core/limits/connect-redis.ts'
import { createLimits, type LimitSharing, type Limits } from '#core/limits/limits.ts'
import { logChanges } from '#ops/log-changes.ts'
import type { Surroundings } from './surroundings.ts'

export interface LimitParts {
  readonly limits: Limits
  /** The connection that limits and wake-ups share; undefined where none is configured. */
  readonly redis: Redis | undefined
}

/** @param processes - among how many live ones the limits are divided where they share no Redis */
export function buildLimits(
  { config, metrics, log }: Surroundings,
  processes: LimitSharing['processes'],
): LimitParts {
  const redis = config.redisUrl === undefined ? undefined : connectRedis(config.redisUrl)
  const redisName = `Redis${atAddressOf(config.redisUrl)}`
  if (redis !== undefined) metrics.limitStore(true)
  const logRedis = logChanges(
    log,
    `${redisName} answers: limits hold across processes`,
    `${redisName} does not answer: each process enforces its part of the limits`,
  )
  const limits = createLimits(config.limits, {
    processes,
    observer: {
      storeAnswers(answers, error) {
        metrics.limitStore(answers)
        logRedis(answers, error)
      },
      answered: metrics.limitStoreAnswered,
      failed: metrics.limitStoreFailed,
    },
    ...(redis !== undefined && { redis }),
  })
  return { limits, redis }
}
