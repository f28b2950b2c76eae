import type { Agent, AgentApp } from '#core/agents/adapter.ts'

/** An app's own key stands before its agent's. A probe names no app: where only apps have keys, it takes one of theirs. */
export function agentKey(agent: Agent, app: AgentApp | undefined): string | undefined {
  return app === undefined ? (agent.apiKey ?? agent.apps[0]?.apiKey) : (app.apiKey ?? agent.apiKey)
}
