import type { ChatEvent, DetailEvent, FinishReason, Usage } from '#core/agents/events.ts'
import { ReplyText } from '#core/chat/reply-text.ts'
import type { Chat } from '#core/chat/service.ts'
import { Problem } from '#core/errors.ts'
import { tokenUsage } from '#http/token-usage.ts'
import type { ChatReply } from './schemas.ts'

/** Reads a call to its end and gives the one JSON reply. Throws the call's problem. */
export async function foldReply(
  chat: Chat,
  { detail, replyBytesMax }: { detail: boolean; replyBytesMax: number },
): Promise<ChatReply> {
  const replyText = new ReplyText()
  const details: DetailEvent[] = []
  let content = ''
  let held = 0
  let model = chat.model
  let usage: Usage | undefined
  let reason = 'stop' as FinishReason

  const take = (event: ChatEvent) => {
    const text = replyText.add(event)
    // Only the replacement stands: nobody has seen what it replaces.
    content = event.type === 'replace' ? event.text : content + text
    held += text.length
    switch (event.type) {
      case 'model':
        model = event.model
        break
      case 'usage':
        usage = event.usage
        break
      case 'end':
        reason = event.reason
        break
      default:
        if (detail) held += keep(event, details)
    }
  }

  await chat.events.read((batch) => {
    for (const event of batch) take(event)
    if (held > replyBytesMax) {
      throw new Problem('agent_malformed', { detail: `The reply is larger than ${replyBytesMax} bytes.` })
    }
    return undefined
  })
  return {
    id: chat.conversationId,
    object: 'chat.completion',
    created: chat.created,
    model,
    ...(usage !== undefined && { usage: tokenUsage(usage) }),
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: reason }],
    ...(detail && { detail: details }),
  }
}

/** Adds the event's progress, if it is one; returns its size. */
function keep(event: ChatEvent, details: DetailEvent[]): number {
  const entry = progressOf(event)
  if (entry === undefined) return 0
  const last = details.at(-1)
  // Reasoning comes in fragments; in one reply it is one entry.
  if (entry.type === 'reasoning' && last?.type === 'reasoning' && event.type === 'reasoning') {
    const before = (last.data as { text: string }).text
    details[details.length - 1] = { type: 'reasoning', data: { text: before + event.text } }
    return event.text.length
  }
  details.push(entry)
  return JSON.stringify(entry).length
}

function progressOf(event: ChatEvent): DetailEvent | undefined {
  switch (event.type) {
    case 'detail':
      return event.detail
    case 'reasoning':
      return { type: 'reasoning', data: { text: event.text } }
    case 'replace':
      return { type: 'replaced', data: { text: event.text } }
    case 'tool_calls':
      return { type: 'tool_call', data: event.delta }
    default:
      return undefined
  }
}
