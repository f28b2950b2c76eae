import type { CreateApiKeyInput } from './generated/graphql.ts'

/** A key that can do little and not for long, since whoever uses the page can read it. */
export function newKey(name: string): CreateApiKeyInput {
  const expiresAt = new Date(Date.now() + 30 * 86_400_000).toISOString()
  return { name, description: 'Made by the example page.', permissions: ['CHAT'], expiresAt }
}
