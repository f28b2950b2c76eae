import type { Agent, AgentApp } from '#core/agents/adapter.ts'
import { agentKey } from './agent-key.ts'

/** Returns the `authorization` header, or no header if neither app nor agent has a key. */
export function bearer({
  agent,
  app,
}: {
  readonly agent: Agent
  readonly app?: AgentApp | undefined
}): Record<string, string> {
  const key = agentKey(agent, app)
  return key === undefined ? {} : { authorization: `Bearer ${key}` }
}
