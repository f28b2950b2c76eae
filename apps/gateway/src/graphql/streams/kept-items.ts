import type { ChatHead } from '#core/calls/request/chat-head.ts'
import type { KeptProblem } from '#core/reply-log/kept-call.ts'
import type { KeptForm } from '#core/reply-log/kept-form.ts'
import { type ChatItem, createItems, startItem } from './chat-items.ts'
import { replyCollector, serializeReply } from './chat-reply.ts'

/** What the log of a chat holds. Readers get the failure as the error with which their items end. */
export type StoredItem = ChatItem | { readonly type: 'failed'; readonly problem: KeptProblem }

const ITEM_END = '\n\n'

/** Keeps the items of a chat, whatever fields its first reader has selected, since another may select others. */
export function keptItems(chat: ChatHead, { detail }: { readonly detail: boolean }): KeptForm {
  const itemsOf = createItems(chat, detail)
  const collector = replyCollector(chat, detail)
  return {
    hasIds: false,
    opening: textOf(startItem(chat)),
    encode: (event) => itemsOf(event).map(textOf).join(''),
    fail({ reason, detail, retryAfterSeconds }) {
      return textOf({ type: 'failed', problem: { reason, detail, retryAfterSeconds } })
    },
    collector,
    serialize: () => serializeReply(collector.reply),
  }
}

function textOf(item: StoredItem): string {
  return JSON.stringify(item) + ITEM_END
}

/** The items of a part of a log. */
export function parseItems(text: string): readonly StoredItem[] {
  return text
    .split(ITEM_END)
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as StoredItem)
}
