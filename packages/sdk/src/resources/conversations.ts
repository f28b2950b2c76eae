import type { ApiPromise, ListPromise } from '../api-promise.ts'
import type {
  ConversationMessages,
  Conversation as ListedConversation,
  operations,
} from '../generated/wire.ts'
import type { CallOptions, ChatStreamOptions } from '../options.ts'
import { type CsvQuery, type ListQuery, Resource } from './resource.ts'

/** Which conversations to list, and how many are requested at once. */
export type ConversationFilter = ListQuery<'listConversations'>

/** Which page of messages to read. */
export type MessagePage = ListQuery<'listMessages'>

/** A conversation with its name. */
export type RenamedConversation =
  operations['renameConversation']['responses'][200]['content']['application/json']['data']

/** What has become of a conversation that was deleted. */
export type DeletedConversation =
  operations['deleteConversation']['responses'][200]['content']['application/json']['data']

/** What a user thinks of an answer. */
export type Feedback = operations['rateCall']['requestBody']['content']['application/json']

/** An answer that was rated. */
export type RatedCall = operations['rateCall']['responses'][200]['content']['application/json']['data']

/** Conversations with agents, on all platforms alike; reached as `client.conversations`. */
export class Conversations extends Resource {
  /**
   * Lists conversations, the most recently used first. `for await` reads all pages; `await` alone the first one.
   *
   * @example
   * ```ts
   * for await (const { id, name, conversation, turns } of client.conversations.list({ end_user: 'ann' })) {
   *   console.log(id, name ?? conversation, turns)
   * }
   * ```
   */
  list(filter?: ConversationFilter, options?: CallOptions): ListPromise<ListedConversation> {
    return this.transport.list('/conversations', filter, options)
  }

  /**
   * Reads the record of a conversation.
   *
   * @example
   * ```ts
   * const [found] = (await client.conversations.list({ limit: 1 })).items
   * if (found !== undefined) {
   *   const { agent, conversation, paused } = await client.conversations.get(found.id)
   *   console.log(agent, conversation, paused)
   * }
   * ```
   */
  get(id: string, options?: CallOptions): ApiPromise<ListedConversation> {
    return this.send('GET', '/conversations/{id}', options, { params: { id } })
  }

  /**
   * Reads a page of its messages, the newest page first. Those of the page before it are read with `before` of this one.
   *
   * @example
   * ```ts
   * const [found] = (await client.conversations.list({ limit: 1 })).items
   * if (found !== undefined) {
   *   let { items, before } = await client.conversations.messages(found.id)
   *   while (before !== null) {
   *     const older = await client.conversations.messages(found.id, { before })
   *     items = [...older.items, ...items]
   *     before = older.before
   *   }
   *   console.log(items.map(({ role, text }) => `${role}: ${text}`))
   * }
   * ```
   */
  messages(id: string, page?: MessagePage, options?: CallOptions): ApiPromise<ConversationMessages> {
    return this.send('GET', '/conversations/{id}/messages', options, {
      params: { id },
      query: page,
    })
  }

  /**
   * Names a conversation, here and at the platform of its agent where that has names.
   *
   * @example
   * ```ts
   * const [found] = (await client.conversations.list({ limit: 1 })).items
   * if (found !== undefined) {
   *   const { name, passed_on } = await client.conversations.rename(found.id, 'Holiday plans')
   *   console.log(name, passed_on)
   * }
   * ```
   */
  rename(id: string, name: string | null, options?: CallOptions): ApiPromise<RenamedConversation> {
    return this.send('PATCH', '/conversations/{id}', options, { params: { id }, json: { name } })
  }

  /**
   * Deletes a conversation at the platform of its agent, where that can, and at the gateway. Its id begins a new one from then on.
   *
   * @example
   * ```ts
   * const [found] = (await client.conversations.list({ limit: 1 })).items
   * if (found !== undefined) {
   *   const { at_platform } = await client.conversations.delete(found.id)
   *   console.log(at_platform)
   * }
   * ```
   */
  delete(id: string, options?: CallOptions): ApiPromise<DeletedConversation> {
    return this.send('DELETE', '/conversations/{id}', options, { params: { id } })
  }

  /**
   * Keeps with a call what its user thinks of the answer, and passes it on where the platform takes it. Null takes a rating back.
   *
   * @example
   * ```ts
   * const { callId = '' } = await client.chat.create({ agent: 'dify', query: 'Hello' })
   * const { passed_on } = await client.conversations.rate(callId, { rating: 'up', text: 'Just right.' })
   * console.log(passed_on)
   * ```
   */
  rate(callId: string, feedback: Feedback, options?: CallOptions): ApiPromise<RatedCall> {
    return this.send('PUT', '/calls/{id}/feedback', options, { params: { id: callId }, json: feedback })
  }

  /**
   * Downloads the list as CSV, all of it at once: a response whose body is read as it arrives.
   *
   * @example
   * ```ts
   * const response = await client.conversations.csv({ agent: 'dify' })
   * console.log(await response.text())
   * ```
   */
  csv(filter?: CsvQuery<ConversationFilter>, options?: ChatStreamOptions): Promise<Response> {
    return this.transport.csv('/conversations', filter, options)
  }
}
