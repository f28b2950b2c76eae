import { useAgentChoices, useKeyChoices, useUserChoices } from '../choose/use-choices.ts'

/**
 * The names of agents, keys and users that filters choose by their ids; an id without a known name stands for itself.
 *
 * @param kinds - those that are wanted; only their names are read
 */
export function useNames(kinds: readonly string[] = ['agent', 'key', 'user']) {
  const agents = useAgentChoices(kinds.includes('agent'))
  const keys = useKeyChoices(kinds.includes('key'))
  const users = useUserChoices(kinds.includes('user'))
  return {
    agent: (id: string) => agents.find((agent) => agent.id === id)?.name ?? id,
    key: (id: string) => keys.find((key) => key.id === id)?.name ?? id,
    user: (id: string) => users.find((user) => user.id === id)?.username ?? id,
  }
}
