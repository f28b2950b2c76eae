import type { Agent, AgentApp } from '#core/agents/adapter.ts'

/** The app that an empty `app_id` selects: the one marked as default, or the only one. */
export function defaultApp({ apps }: Pick<Agent, 'apps'>): AgentApp | undefined {
  return apps.find((app) => app.default) ?? (apps.length === 1 ? apps[0] : undefined)
}
