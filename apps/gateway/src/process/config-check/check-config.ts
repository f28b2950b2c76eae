import type { Config } from '#config/load.ts'
import { checkAgents } from './check-agents.ts'
import { checkDataDir } from './check-data-dir.ts'
import { checkDatabase } from './check-database.ts'
import { checkRedis } from './check-redis.ts'
import { checkStorage } from './check-storage.ts'
import { type Finding, findingsOf } from './finding.ts'

export type { Finding }

/**
 * Tries what the configuration names: all services at the same time, each within a bounded time. Nothing is left behind.
 *
 * @param probesAgents - whether the platforms are probed as well
 */
export async function checkConfig(config: Config, probesAgents: boolean): Promise<readonly Finding[]> {
  const found = await Promise.all([
    checkDatabase(config),
    checkDataDir(config),
    checkRedis(config),
    checkStorage(config),
    probesAgents ? checkAgents(config) : [],
  ])
  return [...checkVariables(config), ...found.flat()]
}

function checkVariables({ misspeltVariables }: Config): readonly Finding[] {
  const { warning } = findingsOf('environment')
  return misspeltVariables.map(({ name, meant }) => warning(`${name}: is not read; did you mean ${meant}?`))
}
