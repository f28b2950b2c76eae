import { CodeTabs } from '../../../code/code-tabs.tsx'
import { chatSnippets, KEY_PLACEHOLDER } from '../../../code/snippets.ts'
import { sentQuery, type Turn } from '../chats/turn.ts'

interface SnippetChoiceProps {
  readonly turn: Turn
  readonly agent: string
  readonly app: string
}

/** The same message in the same conversation, for other programs. The key of the playground is its own. */
export function SnippetChoice({ turn, agent, app }: SnippetChoiceProps) {
  const snippets = chatSnippets({
    baseURL: location.origin,
    agent,
    app,
    conversationId: turn.conversationId,
    query: sentQuery(turn),
    answer: turn.answer,
    files: turn.files.map(({ url }) => url),
    detail: true,
    apiKey: KEY_PLACEHOLDER,
  })
  return <CodeTabs snippets={snippets} />
}
