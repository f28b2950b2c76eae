import type { AgentCall } from '#core/agents/adapter.ts'
import { agentUrl } from '#core/agents/translate/agent-url.ts'

export function difyUrl({ agent }: Pick<AgentCall, 'agent'>, path: string): string {
  return agentUrl(agent.baseUrl, /\/v1$/, `/v1${path}`)
}
