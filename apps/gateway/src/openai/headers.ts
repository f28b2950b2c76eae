import Type from 'typebox'

/** Messages may carry files, in base64. */
export const BODY_BYTES_MAX = 20 * 1024 * 1024

export const CONVERSATION_HEADER = 'x-conversation-id'

export const ConversationHeader = Type.Optional(
  Type.String({
    description:
      'The id of the conversation to continue. It must be percent-encoded (UTF-8) where it contains a `%` or anything but printable ASCII.',
  }),
)

export const AGENT_HEADER = Type.Optional(
  Type.String({
    description:
      'The id of the agent that answers. It takes precedence over `model`, of which then only the app (what follows the slash) counts.',
  }),
)
