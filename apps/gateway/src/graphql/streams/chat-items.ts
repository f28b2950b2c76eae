import type { ChatEvent, DetailEvent, FinishReason, TokenCounts } from '#core/agents/events.ts'
import type { OfferedFile } from '#core/agents/made-file.ts'
import type { OfferedPause } from '#core/agents/pause.ts'
import type { Chat } from '#core/calls/chats.ts'
import { detailsOf } from '#core/calls/reading/detail-of.ts'
import { replyIterator } from '#core/calls/reading/reply-iterator.ts'
import { paragraphOf } from '#core/calls/reading/reply-text.ts'
import type { ChatHead } from '#core/calls/request/chat-head.ts'

/** What a subscriber of a chat gets, one after the other; `type` distinguishes them from each other and from details. */
export type ChatItem =
  | { readonly type: 'started'; readonly chat: ChatStart }
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'text_replaced'; readonly text: string }
  | DetailEvent
  | ChatEnd

/** What the first item says of a call. */
export type ChatStart = Pick<ChatHead, 'callId' | 'conversationId' | 'created'>

/** What an item of a kept call has beside its own fields. */
export interface Numbered {
  /** The number after which a client can resume. */
  readonly sequence?: number | undefined
}

export interface ChatEnd {
  readonly type: 'finished'
  readonly model: string
  readonly finishReason: FinishReason
  /** Undefined if the platform reported no token counts. */
  readonly usage: TokenCounts | undefined
  /** Where the run waits; undefined if it has ended. */
  readonly pause: OfferedPause | undefined
  readonly files: readonly OfferedFile[]
}

/**
 * The items of a call. The first one names the call and comes before the request to the platform, so that a client knows the
 * conversation even of a call that fails. A failed call rejects after the items that came before the failure; leaving early
 * cancels it.
 */
export function chatItems(chat: Chat, { detail }: { detail: boolean }): AsyncIterator<ChatItem, undefined> {
  return replyIterator(chat.events, createItems(chat, detail), [startItem(chat)])
}

export function startItem({ callId, conversationId, created }: ChatStart): ChatItem {
  return { type: 'started', chat: { callId, conversationId, created } }
}

/** The texts of the items are those of REST's chunks, but for a text that replaces another, which has an item of its own. */
export function createItems(
  { model: firstModel }: Pick<ChatHead, 'model'>,
  detail: boolean,
): (event: ChatEvent) => readonly ChatItem[] {
  let hasText = false
  let model = firstModel
  let usage: TokenCounts | undefined

  return (event) => {
    switch (event.type) {
      case 'text':
      case 'pause': {
        const text = event.type === 'text' ? event.text : paragraphOf(event, hasText)
        hasText = true
        return text === '' ? [] : [{ type: 'text', text }]
      }
      case 'replace':
        hasText = true
        return [{ type: 'text_replaced', text: event.text }, ...(detail ? detailsOf(event) : [])]
      case 'model':
        model = event.model
        return []
      case 'usage':
        usage = event.usage
        return []
      case 'end':
        return [
          {
            type: 'finished',
            model,
            finishReason: event.reason,
            usage,
            pause: event.pause,
            files: event.files ?? [],
          },
        ]
      default:
        return detail ? detailsOf(event) : []
    }
  }
}
