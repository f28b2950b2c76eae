import type { ChatRequest } from '#core/calls/request/chat-request.ts'
import { endUserOf } from '#http/chat/chat-route.ts'
import type { GraphqlContext } from '../context.ts'

/** The input of a chat as GraphQL has checked it. */
export interface ChatFields {
  readonly agentId: string
  readonly query: string
  readonly appId?: string | null | undefined
  readonly conversationId?: string | null | undefined
  readonly files?: readonly string[] | null | undefined
  readonly variables?: Readonly<Record<string, unknown>> | null | undefined
  readonly endUser?: string | null | undefined
  readonly detail: boolean
}

/** What the chat service is asked. */
export function chatRequestOf(
  { agentId, query, appId, conversationId, files, variables, endUser }: ChatFields,
  { http, chatOptions }: Pick<GraphqlContext, 'http' | 'chatOptions'>,
  { credential, stream }: Pick<ChatRequest, 'credential' | 'stream'>,
): ChatRequest {
  return {
    requestId: http.id,
    face: 'graphql',
    credential,
    address: http.ip,
    agent: { id: agentId, appId: appId ?? '' },
    asks: { kind: 'question', query, files: files ?? [], variables: variables ?? {} },
    // The other name, `chatId`, is REST's older one for the same.
    conversation: { chatId: '', conversationId: conversationId ?? '' },
    endUser: endUserOf(http, chatOptions, endUser),
    stream,
  }
}
