import { AGENT_FACTS } from '#core/agents/create-agent.ts'
import type { ServedAgent } from '#core/agents/served-agent.ts'
import { isObject, objectOf } from '#core/base/values/json.ts'
import { pathOf } from './issues.ts'
import type { Config } from './load.ts'
import { SETTINGS } from './settings.ts'

/** The settings that may change while the process runs, beside the agents. */
const LIVE = ['limits'] as const
const FIXED = Object.keys(SETTINGS).filter((name) => !LIVE.some((live) => live === name))

/** What of a configuration the process can serve without a restart. */
export type LiveSettings = Pick<Config, 'agents' | (typeof LIVE)[number]>

/**
 * What differs between two descriptions and may change while the process runs: each agent as a whole, of the limits each value.
 *
 * @param before - a description of any version, or undefined if there was none
 */
export function liveChanges(before: unknown, after: object): string[] {
  const [was, is] = [objectOf(before), objectOf(after)]
  const agents = (agents: unknown) =>
    Object.fromEntries(Object.entries(objectOf(agents)).map(([id, agent]) => [id, JSON.stringify(agent)]))
  return [
    ...differences(agents(was.agents), agents(is.agents), 'agents'),
    ...LIVE.flatMap((name) => differences(was[name], is[name], name)),
  ]
}

/** What differs between two configurations and needs a restart. */
export function fixedChanges(before: Config, after: Config): string[] {
  return FIXED.flatMap((name) => {
    const key = name as keyof Config
    return differences(before[key], after[key], name)
  })
}

/**
 * All settings of an agent as text, the same for the same agent. What is worked out of them is left out: another version may work out
 * more, and would be told apart from this one during an upgrade.
 */
export function agentText(agent: ServedAgent): string {
  return JSON.stringify(agent, function (this: object, name: string, value) {
    if (name === 'adapter') return value.platform
    // A platform may have a setting of the same name among its options.
    return 'adapter' in this && AGENT_FACTS.has(name) ? undefined : value
  })
}

function differences(before: unknown, after: unknown, path: string): string[] {
  if (!isObject(before) || !isObject(after))
    return JSON.stringify(before) === JSON.stringify(after) ? [] : [path]
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...names].flatMap((name) => differences(before[name], after[name], pathOf(path, name)))
}
