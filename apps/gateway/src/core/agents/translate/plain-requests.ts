import type { Agent, AgentApp, UpstreamRequest } from '#core/agents/adapter.ts'

/**
 * An app's key takes precedence over its agent's. A probe has no app and uses the first app's key if the
 * agent has none.
 */
export function agentKey(agent: Agent, app: AgentApp | undefined): string | undefined {
  return app === undefined ? (agent.apiKey ?? agent.apps[0]?.apiKey) : (app.apiKey ?? agent.apiKey)
}

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

/** Creates a POST request with a JSON body. */
export function jsonPost(
  url: string,
  credentials: Readonly<Record<string, string>>,
  body: object,
): UpstreamRequest {
  return {
    method: 'POST',
    url,
    headers: { 'content-type': 'application/json', ...credentials },
    body: JSON.stringify(body),
  }
}
