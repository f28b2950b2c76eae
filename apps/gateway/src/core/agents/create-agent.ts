import { withoutTrailing } from '#core/base/values/without-trailing.ts'
import type { Agent, AgentFacts, AgentSettings, EntrySchemas } from './adapter.ts'

/** The names of {@link AgentFacts}. */
export const AGENT_FACTS: ReadonlySet<string> = new Set([
  'apiUrl',
  'requires',
  'context',
  'takesAnyApp',
] satisfies (keyof AgentFacts)[])

/** Makes an agent of its settings, and works out once what depends on them alone. */
export function createAgent<Own extends EntrySchemas>(settings: AgentSettings<Own>): Agent<Own> {
  const { adapter, apps } = settings
  const baseUrl = withoutTrailing(settings.baseUrl, '/')
  const facts: AgentFacts = {
    apiUrl: adapter.apiUrl?.(baseUrl) ?? baseUrl,
    requires: adapter.requires(settings),
    context: adapter.context(settings),
    takesAnyApp: apps.length === 0 && adapter.takesAppIds,
  }
  return { ...settings, ...facts, baseUrl }
}
