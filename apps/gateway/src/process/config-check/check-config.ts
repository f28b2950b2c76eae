import type { Config } from '#config/load.ts'
import { checkAgents } from './check-agents.ts'
import { checkDataDir } from './check-data-dir.ts'
import { checkDatabase } from './check-database.ts'
import { checkEnvironment } from './check-environment.ts'
import { checkRedis } from './check-redis.ts'
import { checkStorage } from './check-storage.ts'
import type { Finding } from './finding.ts'

export type { Finding }

/**
 * Tries what the configuration names: all services at the same time, each within a bounded time. Nothing is left behind.
 *
 * @param probesAgents - whether the platforms are probed as well
 */
export async function checkConfig(config: Config, probesAgents: boolean): Promise<readonly Finding[]> {
  const found = await Promise.all([
    checkEnvironment(config),
    checkDatabase(config),
    checkDataDir(config),
    checkRedis(config),
    checkStorage(config),
    probesAgents ? checkAgents(config) : [],
  ])
  return found.flat()
}
