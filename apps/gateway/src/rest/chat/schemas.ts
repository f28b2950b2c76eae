import Type, { type Static } from 'typebox'
import { ID_CHARACTERS_MAX } from '#core/calls/request/call.ts'
import { FILES_MAX } from '#core/calls/request/file-urls.ts'
import { TokenUsageSchema } from '#http/chat/completion-form.ts'
import { ReplyFileSchema } from '#http/chat/file-schemas.ts'
import { FinishReasonSchema } from '#http/chat/finish-reason.ts'
import { PauseAnswerSchema, PauseSchema } from '#http/chat/pause-schemas.ts'
import { END_USER_DESCRIPTIONS } from '#http/descriptions/end-user-descriptions.ts'
import { ref } from '#http/response/schemas.ts'
import { DetailEventSchema } from './detail-schemas.ts'

export const ChatRequestSchema = Type.Object(
  {
    app_id: Type.String({
      maxLength: ID_CHARACTERS_MAX,
      description:
        'The id of the application on the platform. It must not be empty for fastgpt, nor for coze where the gateway has no default bot.',
    }),
    chat_id: Type.String({
      maxLength: ID_CHARACTERS_MAX,
      description:
        'The conversation to continue, for every agent but hiagent, which ignores this field. If it is empty, `conversation_id` counts; if both are empty, a new conversation begins.',
    }),
    stream: Type.Boolean({
      description: 'True returns the reply as server-sent events, false as one JSON object.',
    }),
    detail: Type.Boolean({ description: "True adds the platform's progress (DetailEvent) to the reply." }),
    query: Type.String({
      description: 'The message to the agent. It must not be blank, except beside `answer`.',
    }),
    conversation_id: Type.String({
      maxLength: ID_CHARACTERS_MAX,
      description:
        'The conversation to continue, for hiagent, which requires it. For other agents it counts only if `chat_id` is empty.',
    }),
    files: Type.Array(Type.String(), {
      maxItems: FILES_MAX,
      description:
        'The http(s) URLs of files for the agent: those of your uploads, or other public ones. May be empty.',
    }),
    user: Type.Optional(
      Type.String({
        maxLength: ID_CHARACTERS_MAX,
        description: END_USER_DESCRIPTIONS.asked,
      }),
    ),
    variables: Type.Optional(
      Type.Object(
        {},
        { additionalProperties: true, description: "The input variables of the platform's application." },
      ),
    ),
    answer: Type.Optional(ref(PauseAnswerSchema)),
  },
  {
    $id: 'ChatRequest',
    description:
      'A message to an agent. The seven fields of the interface are all required; unknown fields are ignored.',
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
export type ChatBody = Static<typeof ChatRequestSchema>

const ConversationId = Type.String({
  description:
    'The id of the conversation. Send it with the next message (`conversation_id` for hiagent, `chat_id` for all others) to continue.',
})
const Created = Type.Integer({ description: 'When the call began, in seconds since 1970.' })
const ModelName = Type.String({ description: 'The model that the platform named, or else the agent.' })
const ChoiceIndex = Type.Integer({ description: 'Always 0.' })

export const ChatReplySchema = Type.Object(
  {
    id: ConversationId,
    object: Type.Literal('chat.completion', { description: 'Always `chat.completion`.' }),
    created: Created,
    model: ModelName,
    usage: Type.Optional(ref(TokenUsageSchema)),
    choices: Type.Array(
      Type.Object({
        index: ChoiceIndex,
        message: Type.Object(
          {
            role: Type.Literal('assistant', { description: 'Always `assistant`.' }),
            content: Type.String({ description: 'The text of the reply.' }),
          },
          { description: "The agent's message." },
        ),
        finish_reason: FinishReasonSchema,
      }),
      { description: 'Always exactly one choice.' },
    ),
    detail: Type.Optional(
      Type.Array(ref(DetailEventSchema), {
        description: "The steps of the platform's progress, in order; present only if `detail` was true.",
      }),
    ),
    files: Type.Optional(
      Type.Array(ref(ReplyFileSchema), { description: 'The files that the agent has made, at most 20.' }),
    ),
    pause: Type.Optional(ref(PauseSchema)),
  },
  {
    $id: 'ChatReply',
    description: 'The whole reply of an agent.',
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
    id: ConversationId,
    object: Type.Literal('chat.completion.chunk', { description: 'Always `chat.completion.chunk`.' }),
    created: Created,
    model: ModelName,
    choices: Type.Array(
      Type.Object({
        index: ChoiceIndex,
        delta: Type.Object(
          {
            role: Type.Literal('assistant', { description: 'Always `assistant`.' }),
            content: Type.Union([Type.String(), Type.Null()], {
              description: 'The next piece of the text; null in the last chunk.',
            }),
          },
          { description: 'What this chunk adds to the message.' },
        ),
        finish_reason: Type.Union([FinishReasonSchema, Type.Null()], {
          description: 'Why the reply ended; null in every chunk but the last.',
        }),
      }),
      { description: 'Always exactly one choice.' },
    ),
    usage: Type.Optional(ref(TokenUsageSchema)),
    detail: Type.Optional(ref(DetailEventSchema)),
    files: Type.Optional(
      Type.Array(ref(ReplyFileSchema), { description: 'The files that the agent has made, at most 20.' }),
    ),
    pause: Type.Optional(ref(PauseSchema)),
  },
  {
    $id: 'ChatChunk',
    description:
      'One `data:` line of a stream. In the last chunk `content` is null and `finish_reason` is set; the line `data: [DONE]` follows it.',
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
    error: Type.Object(
      {
        message: Type.String({ description: 'What went wrong, for people.' }),
        type: Type.String({ description: "OpenAI's class of the error." }),
        code: Type.String({ description: 'The same stable word as the `reason` of an error body.' }),
        param: Type.Null({ description: 'Always null: the request itself was accepted.' }),
      },
      { description: 'The error.' },
    ),
  },
  {
    $id: 'StreamError',
    description:
      'The last `data:` line of a stream that failed. Neither a chunk with a `finish_reason` nor `[DONE]` follows it.',
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
