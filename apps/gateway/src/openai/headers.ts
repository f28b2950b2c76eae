import type { FastifyRequest } from 'fastify'
import Type from 'typebox'
import type { AgentName } from '#core/calls/request/chat-request.ts'
import { KEPT_HEADERS } from '#http/chat/kept-request.ts'
import { type FieldPlace, type FieldPlaces, inBody, inHeader } from '#http/request/field-place.ts'
import { idOfHeader } from '#http/request/request-headers.ts'

/** Messages may carry files, in base64. */
export const BODY_BYTES_MAX = 20 * 1024 * 1024

const CONVERSATION_HEADER = 'x-conversation-id'

const CONVERSATION_ID = Type.Optional(
  Type.String({
    description:
      'The id of the conversation to continue. It must be percent-encoded (UTF-8) where it contains a `%` or anything but printable ASCII.',
  }),
)

const AGENT_ID = Type.Optional(
  Type.String({
    description:
      'The id of the agent that answers. It takes precedence over `model`, of which then only the app (what follows the slash) counts.',
  }),
)

/** The headers of a chat in an OpenAI-compatible interface. */
export const CHAT_HEADERS = Type.Object({
  agent: AGENT_ID,
  [CONVERSATION_HEADER]: CONVERSATION_ID,
  ...KEPT_HEADERS,
})

/**
 * The conversation that the header names; empty if it names none. An empty header counts as absent, since tools that fill in
 * a template send one when they have no value.
 */
export function conversationInHeader({ headers }: FastifyRequest): string {
  const header = conversationHeader(headers)
  return header === '' ? '' : idOfHeader(CONVERSATION_HEADER, header)
}

/** The agent of the header, or of the model `<agent>/<app>`. If the header names the agent, only the app is taken from it. */
export function agentNameOf(model: string, { agent }: { readonly agent?: string }): AgentName {
  const slash = model.indexOf('/')
  const named = slash < 0 ? model : model.slice(0, slash)
  return {
    id: agent ?? named,
    appId: slash < 0 ? '' : model.slice(slash + 1),
    model,
    isInModel: agent === undefined,
  }
}

/** The places of the fields that may be in a header; `inBody` is that of the conversation without one. */
export function headerPlaces({ headers }: FastifyRequest, conversationInBody: FieldPlace): FieldPlaces {
  const conversation = conversationHeader(headers) === '' ? conversationInBody : inHeader(CONVERSATION_HEADER)
  return {
    agent: headers.agent === undefined ? inBody('model') : inHeader('agent'),
    appId: inBody('model'),
    chatId: conversation,
    conversationId: conversation,
  }
}

function conversationHeader({ [CONVERSATION_HEADER]: header }: FastifyRequest['headers']): string {
  return typeof header === 'string' ? header : ''
}
