import type { Agent, AgentApp } from '#core/agents/adapter.ts'
import { agentKey } from './agent-key.ts'

/** The `authorization` header; a keyless server gets none. */
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
