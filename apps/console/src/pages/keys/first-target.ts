export interface Target {
  readonly agent: string
  readonly app: string
  readonly conversationId: string
}

interface AgentChoice {
  readonly id: string
  readonly requires: readonly string[]
  readonly apps: readonly { readonly appId: string }[]
}

/** An agent that the key may call, with what it requires, for examples. */
export function firstTarget(
  agents: readonly AgentChoice[],
  allowed: readonly string[] | null,
): Target | undefined {
  // Agents that require nothing make the shortest examples.
  for (const { id, requires, apps } of agents.toSorted((a, b) => a.requires.length - b.requires.length)) {
    const entries = allowed?.filter((entry) => entry === id || entry.startsWith(`${id}/`)) ?? [id]
    if (entries.length === 0) continue
    const isWhole = entries.includes(id)
    const onlyApp = isWhole ? apps[0]?.appId : entries[0]?.slice(id.length + 1)
    return {
      agent: id,
      app: onlyApp ?? (requires.includes('appId') ? 'demo' : ''),
      conversationId: requires.includes('conversationId') ? 'my-conversation' : '',
    }
  }
  return undefined
}
