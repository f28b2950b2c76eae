import { useAgentChoices } from '../../choose/use-choices.ts'
import { CodeTabs } from '../../code/code-tabs.tsx'
import { chatSnippets, type Snippets, uploadSnippets } from '../../code/snippets.ts'
import { firstTarget, type Target } from './first-target.ts'

interface KeyCodeProps {
  /** `chat`, `upload` and `admin`. */
  readonly permissions: readonly string[]
  readonly allowedAgents: readonly string[] | null
  /** The whole key, or what stands for it. */
  readonly secret: string
}

/** A first request with a key, ready to be pasted. Nothing until the agents are known, or where the key may call none of them. */
export function KeyCode({ allowedAgents, ...key }: KeyCodeProps) {
  const snippets = snippetsOf(key, firstTarget(useAgentChoices(), allowedAgents))
  return snippets && <CodeTabs snippets={snippets} />
}

function snippetsOf(
  { permissions, secret }: Omit<KeyCodeProps, 'allowedAgents'>,
  target: Target | undefined,
): Partial<Snippets> | undefined {
  const key = { baseURL: location.origin, apiKey: secret }
  const mayChat = permissions.includes('chat') || permissions.includes('admin')
  if (!mayChat) return uploadSnippets(key)
  return target && chatSnippets({ ...key, ...target, query: 'Hello! Who are you?', files: [], detail: false })
}
