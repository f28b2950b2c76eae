import type { AgentCall } from '#core/agents/adapter.ts'
import { agentUrl } from '#core/agents/translate/agent-url.ts'

export function cozeUrl({ agent }: Pick<AgentCall, 'agent'>, path: string): string {
  return agentUrl(agent.baseUrl, /\/v[13]$/, path)
}
