import type { ChatSubscription, PauseAnswerInput } from './generated/graphql.ts'

/** A reply while it is written. One that ends without having finished has been cut off. */
export interface Reply {
  readonly text: string
  /** The next message names it, so that the agent remembers this one. Known from the first item on. */
  readonly conversationId?: string | undefined
  readonly isFinished: boolean
  /** What the agent asks, if it waits for an answer. */
  readonly pause?: Finished['pause']
}

type Finished = Extract<ChatSubscription['chat'], { readonly __typename: 'ChatFinished' }>

/** What a chat sends: a message, or the answer to a pause. */
export interface Sent {
  readonly query: string
  readonly answer?: PauseAnswerInput
}

export const NO_REPLY: Reply = { text: '', isFinished: false }

/** Adds one item of a chat to the reply so far. */
export function addItem(reply: Reply, { chat }: ChatSubscription): Reply {
  switch (chat?.__typename) {
    case 'ChatStarted':
      return { ...reply, conversationId: chat.conversationId }
    case 'ChatText':
      return { ...reply, text: reply.text + chat.text }
    case 'ChatTextReplaced':
      return { ...reply, text: chat.text }
    case 'ChatFinished':
      return { ...reply, isFinished: true, pause: chat.pause }
    default:
      return reply
  }
}
