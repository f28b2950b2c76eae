import { a2a } from '#core/agents/platforms/a2a/adapter.ts'
import { coze } from '#core/agents/platforms/coze/adapter.ts'
import { dify } from '#core/agents/platforms/dify/adapter.ts'
import { fastgpt } from '#core/agents/platforms/fastgpt/adapter.ts'
import { hiagent } from '#core/agents/platforms/hiagent/adapter.ts'
import { langgraph } from '#core/agents/platforms/langgraph/adapter.ts'
import { openai } from '#core/agents/platforms/openai/adapter.ts'
import type { Adapter } from './adapter.ts'

/** The platforms that a gateway supports, in the order in which they are listed. */
export interface PlatformRegistry {
  readonly adapters: readonly Adapter[]
  /** The valid values of an entry's `platform` property. */
  readonly names: readonly string[]
  find(platform: string): Adapter | undefined
}

/** The platforms that ship with the gateway. A new platform is added here. */
export const BUILT_IN: readonly Adapter[] = [fastgpt, hiagent, dify, coze, openai, a2a, langgraph]

export const PLATFORMS = createRegistry(BUILT_IN)

/** @throws Error if two adapters have the same name, which only a programming error can cause */
export function createRegistry(adapters: readonly Adapter[]): PlatformRegistry {
  const byName = new Map(adapters.map((adapter) => [adapter.platform, adapter]))
  if (byName.size < adapters.length) throw new Error('Two adapters have the same name.')
  return { adapters, names: [...byName.keys()], find: (platform) => byName.get(platform) }
}
