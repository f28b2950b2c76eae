import type { ChatReply } from '../generated/wire.ts'
import { requestIdOf } from '../transport/response-fields.ts'
import { textIn } from '../transport/text-in.ts'

/** A reply with shortcuts to what is needed most. They are read from the contract's fields, and JSON and copies leave them out. */
export interface Reply extends ChatReply {
  /** The text of the first choice. */
  readonly text: string
  /** The id of the conversation, which the next message names. */
  readonly conversationId: string
  /** The id of the call in the ledger of the gateway. */
  readonly callId: string | undefined
  /** The id under which the operator of the gateway finds the request. */
  readonly requestId: string | undefined
}

export function replyOf(reply: ChatReply, response: Response): Reply {
  return Object.defineProperties(reply, {
    text: { get: () => textIn(reply.choices?.[0]?.message, 'content') ?? '' },
    conversationId: { get: () => reply.id },
    callId: { get: () => response.headers.get('x-call-id') ?? undefined },
    requestId: { get: () => requestIdOf(response) },
  }) as Reply
}
