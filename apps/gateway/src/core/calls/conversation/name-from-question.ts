import type { CallMessage } from '#core/agents/adapter.ts'
import { textOf } from './messages-with-turns.ts'

const LENGTH_MAX = 80

/** What a chat asks: a query, or the messages of the whole conversation. */
type Asked =
  | { readonly kind: 'question'; readonly query: string }
  | { readonly kind: 'messages'; readonly messages: readonly CallMessage[] }

/** The name of a conversation that begins with this: the first question on one line, cut to 80 characters; undefined without a text. */
export function nameFromQuestion(asked: Asked): string | undefined {
  const text = asked.kind === 'question' ? asked.query : firstQuestion(asked.messages)
  // A long text is cut first, because it may be megabytes; a character has at most two code units.
  const line = text
    .slice(0, 10 * LENGTH_MAX)
    .toWellFormed()
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
  return Array.from(line).slice(0, LENGTH_MAX).join('').trimEnd() || undefined
}

function firstQuestion(messages: readonly CallMessage[]): string {
  const first = messages.find(({ role, content }) => role === 'user' && textOf(content).trim() !== '')
  return first === undefined ? '' : textOf(first.content)
}
