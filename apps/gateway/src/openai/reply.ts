import type { ChatEvent, FinishReason, Usage } from '#core/agents/events.ts'
import { ReplyText } from '#core/chat/reply-text.ts'
import type { Chat } from '#core/chat/service.ts'
import { Problem } from '#core/errors.ts'
import { tokenUsage } from '#http/token-usage.ts'
import { completionId } from './chunks.ts'
import type { Completion } from './schemas.ts'

/** Reads a call to its end and gives the one completion. Throws the call's problem. */
export async function foldCompletion(
  chat: Chat,
  { reasoning, replyBytesMax }: { reasoning: boolean; replyBytesMax: number },
): Promise<Completion> {
  const replyText = new ReplyText()
  const toolCalls = new ToolCalls()
  let content = ''
  let thoughts = ''
  let toolCallCharacters = 0
  let model = chat.model
  let usage: Usage | undefined
  let reason = 'stop' as FinishReason

  const take = (event: ChatEvent) => {
    const text = replyText.add(event)
    content = event.type === 'replace' ? event.text : content + text
    if (event.type === 'reasoning' && reasoning) thoughts += event.text
    else if (event.type === 'tool_calls') {
      toolCalls.add(event.delta)
      toolCallCharacters += JSON.stringify(event.delta).length
    } else if (event.type === 'model') model = event.model
    else if (event.type === 'usage') usage = event.usage
    else if (event.type === 'end') reason = event.reason
  }

  await chat.events.read((batch) => {
    for (const event of batch) take(event)
    if (content.length + thoughts.length + toolCallCharacters > replyBytesMax) {
      throw new Problem('agent_malformed', { detail: `The reply is larger than ${replyBytesMax} bytes.` })
    }
    return undefined
  })
  return {
    id: completionId(chat),
    object: 'chat.completion',
    created: chat.created,
    model,
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: content === '' && toolCalls.list.length > 0 ? null : content,
          refusal: null,
          ...(thoughts !== '' && { reasoning_content: thoughts }),
          ...(toolCalls.list.length > 0 && { tool_calls: toolCalls.list }),
        },
        logprobs: null,
        finish_reason: reason,
      },
    ],
    ...(usage !== undefined && { usage: tokenUsage(usage) }),
  }
}

const TOOL_CALLS_MAX = 127

interface ToolCall {
  function?: { arguments?: string; [field: string]: unknown }
  [field: string]: unknown
}

/** Puts streamed tool calls together: pieces of one call share its index, and arguments come in fragments. */
class ToolCalls {
  readonly list: ToolCall[] = []

  add(deltas: readonly unknown[]): void {
    for (const delta of deltas) {
      const { index = this.list.length, function: part, ...fields } = delta as ToolCall & { index?: number }
      // The index is the platform's: it must not choose the size of our array.
      if (!Number.isInteger(index) || index < 0 || index > TOOL_CALLS_MAX) continue
      const known = this.list[index] ?? {}
      const written = (known.function?.arguments ?? '') + (part?.arguments ?? '')
      this.list[index] = {
        ...known,
        ...fields,
        ...(part !== undefined && { function: { ...known.function, ...part, arguments: written } }),
      }
    }
  }
}
