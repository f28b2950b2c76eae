import { createClient } from 'graphql-sse'
import { Chat } from './documents.ts'
import type { ChatInput, ChatSubscription } from './generated/graphql.ts'
import { addItem, NO_REPLY, type Reply } from './reply.ts'

const ENDPOINT = 'http://127.0.0.1:8080/graphql'

/** Asks, and returns the reply; a next input with its `conversationId` goes on with the conversation. */
export async function ask(apiKey: string, input: ChatInput, show: (reply: Reply) => void, url = ENDPOINT) {
  const client = createClient({
    url,
    headers: { authorization: `Bearer ${apiKey}` },
    // By default a subscription whose connection breaks is started again, and a chat would be sent and counted twice.
    retryAttempts: 0,
  })
  let reply = NO_REPLY
  // Leaving the loop ends the subscription, and stops the agent.
  for await (const { data, errors } of client.iterate<ChatSubscription>({
    query: Chat.toString(),
    variables: { input },
  })) {
    // A chat that fails ends with an item that has an error, with `extensions.code`.
    if (errors?.[0] !== undefined) throw errors[0]
    if (data != null) reply = addItem(reply, data)
    show(reply)
  }
  return reply
}
