import type { CallMessage } from '#core/agents/adapter.ts'

/** What is sent of a request in a conversation whose turns the gateway keeps, and what is kept of it. */
export interface MessagesWithTurns {
  readonly messages: readonly CallMessage[]
  readonly question: string
}

/**
 * Puts the kept turns of a conversation before the messages of a request. Clients repeat some of the conversation, so what
 * precedes the last answer in the messages is left out where there are kept turns. Instructions are sent but not kept.
 */
export function withTurns(
  turns: readonly CallMessage[],
  messages: readonly CallMessage[],
): MessagesWithTurns {
  const instructions = messages.filter(isInstruction)
  const said = messages.filter((message) => !isInstruction(message))
  const recent = turns.length === 0 ? said : said.slice(said.findLastIndex(isAnswer) + 1)
  return { messages: [...instructions, ...turns, ...recent], question: questionOf(recent) }
}

function isInstruction({ role }: CallMessage): boolean {
  return role === 'system' || role === 'developer'
}

/** An assistant's message that only calls tools is no answer: the turn goes on with what the tools return. */
function isAnswer({ role, content }: CallMessage): boolean {
  return role === 'assistant' && textOf(content) !== ''
}

/** The text of one question; of more messages, each text after the name of its role. */
function questionOf(messages: readonly CallMessage[]): string {
  const texts = messages
    .map(({ role, content }) => ({ role, text: textOf(content) }))
    .filter(({ role, text }) => text !== '' && role !== 'tool')
  const [first] = texts
  if (texts.length === 1 && first !== undefined) return first.text
  return texts.map(({ role, text }) => `${role === 'user' ? 'User' : 'Assistant'}: ${text}`).join('\n\n')
}

/** Texts and parts of messages that have been checked. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  const parts = Array.isArray(content) ? (content as { text?: unknown }[]) : []
  return parts.flatMap(({ text }) => (typeof text === 'string' ? text : [])).join('\n')
}
