import { Redis } from 'ioredis'
import type { Config } from '#config/load.ts'
import { systemRuntime } from '#core/base/runtime.ts'
import { atAddressOf } from '#core/base/values/at-address-of.ts'
import { bounded, type Finding, findingsOf } from './finding.ts'

const WITHIN_MS = 5_000
const KEY_MS = 1_000

/** Writes a key that ends by itself, because a replica or a user without rights accepts connections as well. */
export async function checkRedis({ redisUrl }: Config): Promise<readonly Finding[]> {
  if (redisUrl === undefined) return []
  const { ok, warning } = findingsOf('redis')
  const server = `Redis${atAddressOf(redisUrl)}`
  const redis = new Redis(redisUrl, {
    lazyConnect: true,
    connectTimeout: WITHIN_MS,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  })
  // The rejection of `connect` only says that the connection is closed; this says why.
  let cause: unknown
  redis.on('error', (error) => {
    cause = error
  })

  async function check(): Promise<readonly Finding[]> {
    try {
      await redis.connect()
      await redis.set(`trunkline:config-check:${systemRuntime.newId()}`, '1', 'PX', KEY_MS)
    } catch (error) {
      throw cause ?? error
    }
    return [ok(`REDIS_URL: ${server} answers and can be written.`)]
  }
  const findings = await bounded(WITHIN_MS, check(), (reason) =>
    warning(
      `REDIS_URL: ${server} cannot be used: ${reason}. Without it each process enforces its share of the limits.`,
    ),
  )
  redis.disconnect()
  return findings
}
