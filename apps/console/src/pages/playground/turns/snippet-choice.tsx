import { CodeTabs } from '../../../code/code-tabs.tsx'
import { chatSnippets, KEY_PLACEHOLDER } from '../../../code/snippets.ts'
import type { ChatPlace } from '../chats/chat-session.ts'
import type { Turn } from '../chats/turn.ts'

interface SnippetChoiceProps {
  readonly turn: Turn
  readonly place: ChatPlace
}

/** The same message in the same conversation, for other programs. The key of the playground is its own. */
export function SnippetChoice({ turn, place }: SnippetChoiceProps) {
  const snippets = chatSnippets({
    baseURL: location.origin,
    agent: place.agent,
    app: place.app,
    conversationId: place.conversationId,
    query: turn.answer === undefined ? turn.query : '',
    answer: turn.answer,
    files: turn.files.map(({ url }) => url),
    detail: true,
    apiKey: KEY_PLACEHOLDER,
  })
  return <CodeTabs snippets={snippets} />
}
