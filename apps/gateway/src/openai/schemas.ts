import Type, { type Static } from 'typebox'
import { ID_CHARACTERS_MAX } from '#core/calls/request/call.ts'
import { MESSAGE_ROLES } from '#core/calls/request/messages.ts'
import { TokenUsageSchema } from '#http/chat/completion-form.ts'
import { ReplyFileSchema } from '#http/chat/file-schemas.ts'
import { FinishReasonSchema } from '#http/chat/finish-reason.ts'
import { PauseAnswerSchema, PauseSchema } from '#http/chat/pause-schemas.ts'
import { END_USER_DESCRIPTIONS } from '#http/descriptions/end-user-descriptions.ts'
import { nullable, oneOf, ref } from '#http/response/schemas.ts'

const Message = Type.Object(
  {
    role: oneOf(MESSAGE_ROLES, 'Who wrote the message.'),
    content: Type.Optional(
      Type.Unsafe<unknown>({
        description:
          'A text, or a list of parts of the types `text`, `image_url`, `file` and, for `openai` agents, `input_audio`. Null if the message consists of tool calls.',
      }),
    ),
  },
  { additionalProperties: true },
)

export const CompletionRequestSchema = Type.Object(
  {
    model: Type.String({
      minLength: 1,
      maxLength: 300,
      description: 'The agent that answers, as `<agent>` or `<agent>/<app>`.',
    }),
    messages: Type.Array(Message, { minItems: 1, description: 'The conversation so far, oldest first.' }),
    stream: Type.Optional(
      nullable(Type.Boolean(), 'True returns the completion as server-sent events; the default is false.'),
    ),
    stream_options: Type.Optional(
      nullable(
        Type.Object(
          {
            include_usage: Type.Optional(
              nullable(Type.Boolean(), 'True adds a chunk with the tokens before `[DONE]`.'),
            ),
          },
          { additionalProperties: true },
        ),
        'Options of the stream.',
      ),
    ),
    user: Type.Optional(nullable(Type.String({ maxLength: ID_CHARACTERS_MAX }), END_USER_DESCRIPTIONS.asked)),
    metadata: Type.Optional(
      nullable(
        Type.Object(
          {
            conversation_id: Type.Optional(
              nullable(
                Type.String({ maxLength: ID_CHARACTERS_MAX }),
                'The conversation to continue, if the header `X-Conversation-Id` is absent or empty.',
              ),
            ),
          },
          { additionalProperties: true },
        ),
        'Only `conversation_id` has an effect.',
      ),
    ),
    answer: Type.Optional(nullable(ref(PauseAnswerSchema), 'Answers a pause; an addition of the gateway.')),
  },
  {
    $id: 'CompletionRequest',
    additionalProperties: true,
    description:
      "OpenAI's chat completion request. Agents of the platform `openai` get all further parameters. For all other agents, parameters that would change what the client builds on the answer (such as `tools` or `response_format`) are refused with 400, and the others are ignored; docs/tools.md lists them.",
    examples: [{ model: 'fastgpt', messages: [{ role: 'user', content: 'Hello' }], stream: true }],
  },
)
export type CompletionRequest = Static<typeof CompletionRequestSchema>

const ToolCalls = Type.Array(Type.Object({}, { additionalProperties: true }), {
  description: "The tool calls of the model, in OpenAI's form; only from agents of the platform `openai`.",
})
const Logprobs = Type.Object(
  {},
  {
    additionalProperties: true,
    description:
      "How likely the tokens were, in OpenAI's form; only from agents of the platform `openai`, and if the request asks for them.",
  },
)
const Annotations = Type.Array(Type.Unsafe<unknown>({}), {
  description: 'What the text is based on, as the server sent it; only from agents of the platform `openai`.',
})
const CITATIONS = {
  citations: Type.Optional(
    Type.Array(Type.Unsafe<unknown>({}), {
      description:
        'The sources of the answer, as the server sent them; only from agents of the platform `openai`.',
    }),
  ),
  search_results: Type.Optional(
    Type.Array(Type.Unsafe<unknown>({}), {
      description:
        'What was found by a search, as the server sent it; only from agents of the platform `openai`.',
    }),
  ),
}
const CompletionId = Type.String({ description: '`chatcmpl-` followed by the id of the call.' })
const Created = Type.Integer({ description: 'When the call began, in seconds since 1970.' })
const ModelName = Type.String({
  description: 'The model that the platform named, or else the one of the request.',
})
const ChoiceIndex = Type.Integer({ description: 'Always 0.' })
const Reasoning = Type.String({
  description: "The model's reasoning, where the agent is configured to pass it on.",
})

export const CompletionSchema = Type.Object(
  {
    id: CompletionId,
    object: Type.Literal('chat.completion', { description: 'Always `chat.completion`.' }),
    created: Created,
    model: ModelName,
    choices: Type.Array(
      Type.Object({
        index: ChoiceIndex,
        message: Type.Object(
          {
            role: Type.Literal('assistant', { description: 'Always `assistant`.' }),
            content: nullable(
              Type.String(),
              'The text of the reply; null if the reply consists of tool calls.',
            ),
            refusal: Type.Null({ description: "Always null; part of OpenAI's form." }),
            reasoning_content: Type.Optional(Reasoning),
            tool_calls: Type.Optional(ToolCalls),
            annotations: Type.Optional(Annotations),
          },
          { description: "The agent's message." },
        ),
        logprobs: nullable(Logprobs, 'Null unless the request asks for them and the server sent them.'),
        finish_reason: FinishReasonSchema,
      }),
      { description: 'Always exactly one choice.' },
    ),
    ...CITATIONS,
    usage: Type.Optional(ref(TokenUsageSchema)),
    files: Type.Optional(
      Type.Array(ref(ReplyFileSchema), { description: 'The files that the agent has made, at most 20.' }),
    ),
    pause: Type.Optional(ref(PauseSchema)),
  },
  {
    $id: 'Completion',
    description: "The whole reply of an agent, in the form of OpenAI's chat completions.",
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
    id: CompletionId,
    object: Type.Literal('chat.completion.chunk', { description: 'Always `chat.completion.chunk`.' }),
    created: Created,
    model: ModelName,
    choices: Type.Array(
      Type.Object({
        index: ChoiceIndex,
        delta: Type.Object(
          {
            role: Type.Optional(Type.Literal('assistant', { description: 'Present in the first chunk.' })),
            content: Type.Optional(Type.String({ description: 'The next piece of the text.' })),
            reasoning_content: Type.Optional(Reasoning),
            tool_calls: Type.Optional(ToolCalls),
            annotations: Type.Optional(Annotations),
          },
          { description: 'What this chunk adds to the message.' },
        ),
        logprobs: Type.Optional(Logprobs),
        finish_reason: nullable(FinishReasonSchema, 'Why the reply ended; null until it has.'),
      }),
      { description: 'One choice; none in the chunk that carries `usage`.' },
    ),
    ...CITATIONS,
    usage: Type.Optional(
      nullable(
        ref(TokenUsageSchema),
        'The tokens of the call, in a chunk before `[DONE]` if `stream_options.include_usage` was true; null if the platform reported none.',
      ),
    ),
    files: Type.Optional(
      Type.Array(ref(ReplyFileSchema), { description: 'The files that the agent has made, at most 20.' }),
    ),
    pause: Type.Optional(ref(PauseSchema)),
  },
  {
    $id: 'CompletionChunk',
    description: 'One `data:` line of a completion stream. The line `data: [DONE]` follows the last chunk.',
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
    id: Type.String({ description: 'The value for `model` in a request: `<agent>` or `<agent>/<app>`.' }),
    object: Type.Literal('model', { description: 'Always `model`.' }),
    created: Type.Integer({ description: "Always 0; part of OpenAI's form." }),
    owned_by: Type.String({ description: 'The platform of the agent.' }),
  },
  {
    $id: 'Model',
    description: "An agent or one of its apps, in the form of OpenAI's models.",
    examples: [{ id: 'fastgpt', object: 'model', created: 1795161600, owned_by: 'fastgpt' }],
  },
)

export const ModelListSchema = Type.Object(
  {
    object: Type.Literal('list', { description: 'Always `list`.' }),
    data: Type.Array(ref(ModelSchema), { description: 'The models that the key may use.' }),
  },
  {
    $id: 'ModelList',
    description: 'The agents and apps that the key may use.',
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
    error: Type.Object(
      {
        message: Type.String({ description: 'What went wrong, for people.' }),
        type: Type.String({ description: "OpenAI's class of the error." }),
        code: Type.String({ description: 'The same stable word as the `reason` of an error body.' }),
        param: nullable(Type.String(), 'The field that is not valid; null if the error is about no field.'),
      },
      { description: 'The error.' },
    ),
  },
  {
    $id: 'OpenAiError',
    description: "The error body of the OpenAI-compatible routes, in OpenAI's form.",
    examples: [
      {
        error: {
          message: 'body.messages: is required; expected an array of at least 1 item, each an object.',
          type: 'invalid_request_error',
          code: 'invalid_request',
          param: null,
        },
      },
    ],
  },
)
