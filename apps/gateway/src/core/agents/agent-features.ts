import type { Agent, AgentFeatures } from './adapter.ts'

/**
 * What an agent supports. Names and ratings of its conversations are kept by the gateway, also where its platform takes none; what the
 * gateway keeps itself it can show and delete.
 */
export function featuresOf(agent: Agent): AgentFeatures {
  const { adapter } = agent
  const own = adapter.features(agent)
  const calls = adapter.conversations?.(agent)
  const isKeptHere = agent.context === 'gateway'
  return {
    ...own,
    conversations: {
      history: isKeptHere || calls?.history !== undefined || calls?.turn !== undefined,
      rename: own.conversation,
      delete: isKeptHere || calls?.remove !== undefined,
      feedback: true,
    },
  }
}
