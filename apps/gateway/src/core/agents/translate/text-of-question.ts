import type { AgentCall } from '#core/agents/adapter.ts'

/**
 * The text of a question, for platforms that take no question without a text: that of one that consists of files alone is
 * their names.
 */
export function textOfQuestion({ query, files }: Pick<AgentCall, 'query' | 'files'>): string {
  return query.trim() === '' && files.length > 0 ? files.map(({ name }) => name).join(', ') : query
}
