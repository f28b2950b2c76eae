import { refuseField } from '#core/base/errors/errors.ts'
import type { ChatHead } from '#core/calls/request/chat-head.ts'
import type { ChatRequest, KeptRequest, RequestedAnswer } from '#core/calls/request/chat-request.ts'
import type { KeptForm } from '#core/reply-log/kept-form.ts'
import { bodyHash } from '#http/chat/body-hash.ts'
import { mistakeOfKey, sha256 } from '#http/chat/kept-request.ts'
import { endUserReader } from '#http/request/end-user.ts'
import type { GraphqlContext } from '../context.ts'
import { keptItems } from './kept-items.ts'

/** The input of a chat as GraphQL has checked it. */
export interface ChatFields {
  readonly agentId: string
  readonly query: string
  readonly appId?: string | null | undefined
  readonly conversationId?: string | null | undefined
  readonly files?: readonly string[] | null | undefined
  readonly variables?: Readonly<Record<string, unknown>> | null | undefined
  readonly endUser?: string | null | undefined
  readonly answer?: AnswerFields | null | undefined
  readonly detail: boolean
  readonly idempotencyKey?: string | null | undefined
}

interface AnswerFields {
  readonly pauseId: string
  readonly optionId?: string | null | undefined
  readonly fields?: Readonly<Record<string, unknown>> | null | undefined
  readonly value?: unknown
  readonly cancel?: boolean | null | undefined
}

/** The request to the chat service. */
export function chatRequestOf(
  { agentId, query, appId, conversationId, files, variables, answer, endUser }: ChatFields,
  { http, services }: Pick<GraphqlContext, 'http' | 'services'>,
  { credential, stream }: Pick<ChatRequest, 'credential' | 'stream'>,
): ChatRequest {
  return {
    requestId: http.id,
    trace: http.trace,
    face: 'graphql',
    credential,
    address: http.ip,
    agent: { id: agentId, appId: appId ?? '' },
    asks: { kind: 'question', query, files: files ?? [], variables: variables ?? {} },
    // The other name, `chatId`, is REST's older one for the same.
    conversation: { chatId: '', conversationId: conversationId ?? '' },
    answer: answer == null ? undefined : answerOf(answer),
    endUser: endUser ?? '',
    readEndUser: endUserReader(http, services.authentication),
    stream,
  }
}

function answerOf({ pauseId, optionId, fields, value, cancel }: AnswerFields): RequestedAnswer {
  return {
    pause: pauseId,
    option: optionId ?? undefined,
    fields: fields ?? undefined,
    value: value ?? undefined,
    cancel: cancel ?? undefined,
  }
}

/**
 * The key under which the reply is kept; undefined for a chat that is not kept.
 *
 * @throws Problem `invalid_request` if the key is not valid, or has no use
 */
export function idempotencyKeyOf(
  { idempotencyKey }: Pick<ChatFields, 'idempotencyKey'>,
  { chatOptions }: Pick<GraphqlContext, 'chatOptions'>,
): string | undefined {
  if (idempotencyKey == null) return undefined
  const mistake = mistakeOfKey(idempotencyKey, chatOptions.keepsReplies)
  return mistake === undefined ? idempotencyKey : refuseField(['idempotencyKey'], mistake)
}

/** What makes a chat a kept one. The selection does not count, since the whole reply is kept. */
export function keptRequestOf({ idempotencyKey: _key, ...asked }: ChatFields, key: string): KeptRequest {
  return { keyHash: sha256(key), bodyHash: bodyHash(asked), form: keptFormOf(asked.detail) }
}

/** Separate from the function above, whose variables it would keep in memory. */
function keptFormOf(detail: boolean): (chat: ChatHead) => KeptForm {
  return (chat) => keptItems(chat, { detail })
}
