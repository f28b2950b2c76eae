import Type, { type Static } from 'typebox'
import { ID_CHARACTERS_MAX } from '#core/chat/chat-call.ts'
import { MESSAGE_ROLES } from '#core/chat/messages.ts'
import { nullable, oneOf, ref } from '#http/schemas.ts'
import { TokenUsageSchema } from '#http/token-usage.ts'

const Message = Type.Object(
  {
    role: oneOf(MESSAGE_ROLES),
    content: Type.Optional(
      Type.Unsafe<unknown>({
        description:
          'Text, or parts of type `text`, `image_url`, `file` and, for `openai` agents, `input_audio`; null beside tool calls.',
      }),
    ),
  },
  { additionalProperties: true },
)

export const CompletionRequestSchema = Type.Object(
  {
    model: Type.String({ minLength: 1, maxLength: 300, description: '`<agent>` or `<agent>/<app>`.' }),
    messages: Type.Array(Message, { minItems: 1 }),
    stream: Type.Optional(nullable(Type.Boolean())),
    stream_options: Type.Optional(
      nullable(
        Type.Object(
          { include_usage: Type.Optional(nullable(Type.Boolean())) },
          { additionalProperties: true },
        ),
      ),
    ),
    user: Type.Optional(nullable(Type.String({ maxLength: ID_CHARACTERS_MAX }))),
    metadata: Type.Optional(
      nullable(
        Type.Object(
          { conversation_id: Type.Optional(nullable(Type.String({ maxLength: ID_CHARACTERS_MAX }))) },
          { additionalProperties: true },
        ),
      ),
    ),
  },
  {
    $id: 'CompletionRequest',
    additionalProperties: true,
    description:
      "OpenAI's chat completion request. What agents other than `openai` ones do with its parameters stands in docs/tools.md.",
    examples: [{ model: 'fastgpt', messages: [{ role: 'user', content: 'Hello' }], stream: true }],
  },
)
export type CompletionRequest = Static<typeof CompletionRequestSchema>

const FinishReason = oneOf(['stop', 'length', 'content_filter', 'tool_calls'])
const ToolCalls = Type.Array(Type.Object({}, { additionalProperties: true }))

export const CompletionSchema = Type.Object(
  {
    id: Type.String({ description: '`chatcmpl-` and the id of the call.' }),
    object: Type.Literal('chat.completion'),
    created: Type.Integer(),
    model: Type.String(),
    choices: Type.Array(
      Type.Object({
        index: Type.Integer(),
        message: Type.Object({
          role: Type.Literal('assistant'),
          content: nullable(Type.String()),
          refusal: Type.Null(),
          reasoning_content: Type.Optional(Type.String()),
          tool_calls: Type.Optional(ToolCalls),
        }),
        logprobs: Type.Null(),
        finish_reason: FinishReason,
      }),
    ),
    usage: Type.Optional(ref(TokenUsageSchema)),
  },
  {
    $id: 'Completion',
    examples: [
      {
        id: 'chatcmpl-019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10',
        object: 'chat.completion',
        created: 1795161600,
        model: 'fastgpt',
        choices: [
          {
            index: 0,
            message: { role: 'assistant', content: 'Hello there.', refusal: null },
            logprobs: null,
            finish_reason: 'stop',
          },
        ],
      },
    ],
  },
)
export type Completion = Static<typeof CompletionSchema>

export const CompletionChunkSchema = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('chat.completion.chunk'),
    created: Type.Integer(),
    model: Type.String(),
    choices: Type.Array(
      Type.Object({
        index: Type.Integer(),
        delta: Type.Object({
          role: Type.Optional(Type.Literal('assistant')),
          content: Type.Optional(Type.String()),
          reasoning_content: Type.Optional(Type.String()),
          tool_calls: Type.Optional(ToolCalls),
        }),
        finish_reason: nullable(FinishReason),
      }),
    ),
    usage: Type.Optional(nullable(ref(TokenUsageSchema))),
  },
  {
    $id: 'CompletionChunk',
    description: 'One `data:` line of a completion stream; `[DONE]` follows the last.',
    examples: [
      {
        id: 'chatcmpl-019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10',
        object: 'chat.completion.chunk',
        created: 1795161600,
        model: 'fastgpt',
        choices: [{ index: 0, delta: { content: 'Hello' }, finish_reason: null }],
      },
    ],
  },
)

export const ModelSchema = Type.Object(
  {
    id: Type.String({ description: '`<agent>` or `<agent>/<app>`.' }),
    object: Type.Literal('model'),
    created: Type.Integer(),
    owned_by: Type.String({ description: 'The platform.' }),
  },
  {
    $id: 'Model',
    examples: [{ id: 'fastgpt', object: 'model', created: 1795161600, owned_by: 'fastgpt' }],
  },
)

export const ModelListSchema = Type.Object(
  { object: Type.Literal('list'), data: Type.Array(ref(ModelSchema)) },
  {
    $id: 'ModelList',
    examples: [
      {
        object: 'list',
        data: [{ id: 'fastgpt', object: 'model', created: 1795161600, owned_by: 'fastgpt' }],
      },
    ],
  },
)

export const OpenAiErrorSchema = Type.Object(
  {
    error: Type.Object({
      message: Type.String(),
      type: Type.String({ description: "OpenAI's class of the error." }),
      code: Type.String({ description: 'The same word as `reason` of an error body.' }),
      param: nullable(Type.String()),
    }),
  },
  {
    $id: 'OpenAiError',
    description: 'The error body of the OpenAI-compatible routes.',
    examples: [
      {
        error: {
          message: 'body.messages: is required; expected an array of an object of at least 1 items.',
          type: 'invalid_request_error',
          code: 'invalid_request',
          param: null,
        },
      },
    ],
  },
)
