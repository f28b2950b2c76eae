import { useAgentChoices, useKeyChoices, useUserChoices } from '../choose/use-choices.ts'

/** The names of agents, keys and users that filters choose by their ids; an id without a known name stands for itself. */
export function useNames() {
  const agents = useAgentChoices()
  const keys = useKeyChoices()
  const users = useUserChoices()
  return {
    agent: (id: string | undefined) => id && (agents.find((agent) => agent.id === id)?.name ?? id),
    key: (id: string | undefined) => id && (keys.find((key) => key.id === id)?.name ?? id),
    user: (id: string | undefined) => id && (users.find((user) => user.id === id)?.username ?? id),
  }
}
