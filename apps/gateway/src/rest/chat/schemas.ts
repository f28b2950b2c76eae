import Type, { type Static } from 'typebox'
import { ID_CHARACTERS_MAX } from '#core/chat/chat-call.ts'
import { FILES_MAX } from '#core/chat/file-urls.ts'
import { oneOf, ref } from '#http/schemas.ts'
import { TokenUsageSchema } from '#http/token-usage.ts'

export const ChatRequestSchema = Type.Object(
  {
    app_id: Type.String({
      maxLength: ID_CHARACTERS_MAX,
      description:
        'Application at the platform; a real value for fastgpt, and for coze where no default bot is set.',
    }),
    chat_id: Type.String({
      maxLength: ID_CHARACTERS_MAX,
      description:
        'Conversation of every agent but hiagent, which ignores it; empty starts a new one, or takes `conversation_id`.',
    }),
    stream: Type.Boolean({ description: 'true: server-sent events; false: one JSON reply.' }),
    detail: Type.Boolean({ description: "true: the platform's progress comes along." }),
    query: Type.String({ pattern: '\\S', expected: 'a string that is not blank' }),
    conversation_id: Type.String({
      maxLength: ID_CHARACTERS_MAX,
      description:
        'Conversation of hiagent, which requires it; for the others it counts only where `chat_id` is empty.',
    }),
    files: Type.Array(Type.String(), {
      maxItems: FILES_MAX,
      description: 'Public http(s) URLs; may be empty.',
    }),
    user: Type.Optional(
      Type.String({
        maxLength: ID_CHARACTERS_MAX,
        description: "The caller's end user; conversations are kept apart.",
      }),
    ),
    variables: Type.Optional(
      Type.Object({}, { additionalProperties: true, description: "Inputs of the platform's app." }),
    ),
  },
  {
    $id: 'ChatRequest',
    description: 'All seven fields of the interface are required; unknown fields are ignored.',
    examples: [
      {
        app_id: 'demo',
        chat_id: 'demo-1',
        stream: false,
        detail: false,
        query: 'Hello',
        conversation_id: '',
        files: [],
      },
    ],
  },
)
export type ChatRequest = Static<typeof ChatRequestSchema>

export const DetailEventSchema = Type.Object(
  {
    type: oneOf([
      'node_started',
      'node_finished',
      'tool_call',
      'tool_result',
      'thought',
      'reasoning',
      'sources',
      'variables',
      'interaction',
      'replaced',
      'other',
    ]),
    id: Type.Optional(Type.String()),
    name: Type.Optional(Type.String()),
    status: Type.Optional(Type.String()),
    data: Type.Optional(Type.Unknown()),
    elapsed_ms: Type.Optional(Type.Number()),
  },
  {
    $id: 'DetailEvent',
    description: "One step of the platform's progress, given where `detail` is true.",
    examples: [{ type: 'node_finished', name: 'Knowledge base search', status: 'success', elapsed_ms: 240 }],
  },
)

const FinishReason = oneOf(['stop', 'length', 'content_filter', 'tool_calls'])

export const ChatReplySchema = Type.Object(
  {
    id: Type.String({ description: 'The conversation, as the client can name it from now on.' }),
    object: Type.Literal('chat.completion'),
    created: Type.Integer({ description: 'Seconds since 1970.' }),
    model: Type.String(),
    usage: Type.Optional(ref(TokenUsageSchema)),
    choices: Type.Array(
      Type.Object({
        index: Type.Integer(),
        message: Type.Object({ role: Type.Literal('assistant'), content: Type.String() }),
        finish_reason: FinishReason,
      }),
    ),
    detail: Type.Optional(Type.Array(ref(DetailEventSchema))),
  },
  {
    $id: 'ChatReply',
    examples: [
      {
        id: 'demo-1',
        object: 'chat.completion',
        created: 1795161600,
        model: 'fastgpt',
        usage: { prompt_tokens: 12, completion_tokens: 5, total_tokens: 17 },
        choices: [
          { index: 0, message: { role: 'assistant', content: 'Hello there.' }, finish_reason: 'stop' },
        ],
      },
    ],
  },
)
export type ChatReply = Static<typeof ChatReplySchema>

export const ChatChunkSchema = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('chat.completion.chunk'),
    created: Type.Integer(),
    model: Type.String(),
    choices: Type.Array(
      Type.Object({
        index: Type.Integer(),
        delta: Type.Object({
          role: Type.Literal('assistant'),
          content: Type.Union([Type.String(), Type.Null()]),
        }),
        finish_reason: Type.Union([FinishReason, Type.Null()]),
      }),
    ),
    usage: Type.Optional(ref(TokenUsageSchema)),
    detail: Type.Optional(ref(DetailEventSchema)),
  },
  {
    $id: 'ChatChunk',
    description:
      'One `data:` line of a stream. The last has `content` null and a `finish_reason`, and is followed by `data: [DONE]`.',
    examples: [
      {
        id: 'demo-1',
        object: 'chat.completion.chunk',
        created: 1795161600,
        model: 'fastgpt',
        choices: [{ index: 0, delta: { role: 'assistant', content: 'Hello' }, finish_reason: null }],
      },
    ],
  },
)

export const StreamErrorSchema = Type.Object(
  {
    error: Type.Object({
      message: Type.String(),
      type: Type.String(),
      code: Type.String({ description: 'The same word as `reason` of an error body.' }),
      param: Type.Null(),
    }),
  },
  {
    $id: 'StreamError',
    description:
      'The last `data:` line of a stream that failed; neither a finish chunk nor `[DONE]` follows it.',
    examples: [
      {
        error: {
          message: "The agent platform's reply broke off.",
          type: 'server_error',
          code: 'agent_truncated',
          param: null,
        },
      },
    ],
  },
)
