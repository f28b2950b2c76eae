import type { AgentCall, UpstreamRequest } from '#core/agents/adapter.ts'
import { agentKey, jsonPost } from '#core/agents/translate/plain-requests.ts'
import type { ENTRY } from './entry.ts'

type Call = Pick<AgentCall<typeof ENTRY>, 'agent'> & { readonly app?: AgentCall<typeof ENTRY>['app'] }

export function post(call: Call, path: string, body: object): UpstreamRequest {
  return jsonPost(call.agent.baseUrl + path, credentials(call), body)
}

export function credentials({ agent, app }: Call): Record<string, string> {
  const key = agentKey(agent, app)
  if (key === undefined) return {}
  const { keyHeader } = agent.options
  return { [keyHeader]: keyHeader === 'authorization' ? `Bearer ${key}` : key }
}

/** A UUID, as the server demands, of the conversation's derived id: 32 of its hexadecimal digits, marked as a UUID of its maker's own kind. */
export function threadOf({
  platformConversationId: id = '',
}: Pick<AgentCall, 'platformConversationId'>): string {
  return `${id.slice(0, 8)}-${id.slice(8, 12)}-8${id.slice(13, 16)}-8${id.slice(17, 20)}-${id.slice(20, 32)}`
}

type ThreadCall = Call & Pick<AgentCall, 'platformConversationId'>

export function threadUrl(call: ThreadCall): string {
  return `${call.agent.baseUrl}/threads/${threadOf(call)}`
}

export function runUrl(call: ThreadCall, runId: string): string {
  return `${threadUrl(call)}/runs/${encodeURIComponent(runId)}`
}
