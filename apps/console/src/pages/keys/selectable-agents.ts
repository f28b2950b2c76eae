interface AgentChoice {
  readonly id: string
  readonly name: string
  readonly apps: readonly { readonly appId: string; readonly name: string }[]
}

interface Selectable {
  /** As in the list of a key: `agent` or `agent/app`. */
  readonly entry: string
  readonly name: string
}

/** The agents with their apps, and whatever the key allows beside those, so that a change of the key does not lose it. */
export function selectableAgents(
  agents: readonly AgentChoice[],
  allowed: readonly string[],
): (Selectable & { readonly apps: readonly Selectable[] })[] {
  const known = agents.map(({ id, name, apps }) => ({
    entry: id,
    name,
    apps: apps.map((app) => ({ entry: `${id}/${app.appId}`, name: app.name })),
  }))
  const entries = new Set(known.flatMap(({ entry, apps }) => [entry, ...apps.map((app) => app.entry)]))
  const others = allowed.filter((entry) => !entries.has(entry))
  return [...known, ...others.map((entry) => ({ entry, name: entry, apps: [] }))]
}

/** Adds or removes an entry. An agent as a whole takes the place of its apps. */
export function toggled(value: readonly string[], entry: string): readonly string[] {
  if (value.includes(entry)) return value.filter((other) => other !== entry)
  return [...value.filter((other) => !other.startsWith(`${entry}/`)), entry]
}
