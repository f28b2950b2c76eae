import Type, { type Static } from 'typebox'
import { ID_CHARACTERS_MAX } from '#core/calls/request/call.ts'
import { ReplyFileSchema } from '#http/chat/file-schemas.ts'
import { PauseAnswerSchema, PauseSchema } from '#http/chat/pause-schemas.ts'
import { END_USER_DESCRIPTIONS } from '#http/descriptions/end-user-descriptions.ts'
import { nullable, oneOf, ref } from '#http/response/schemas.ts'

const Open = { additionalProperties: true }
const id = (description: string) => nullable(Type.String({ maxLength: ID_CHARACTERS_MAX }), description)
const flag = (description: string) => Type.Optional(nullable(Type.Boolean(), description))
const count = (description: string) => Type.Optional(nullable(Type.Number(), description))
const anything = (description: string) => Type.Optional(Type.Unsafe<unknown>({ description }))

export const ResponseRequestSchema = Type.Object(
  {
    model: Type.String({
      minLength: 1,
      maxLength: 300,
      description: 'The agent that answers, as `<agent>` or `<agent>/<app>`.',
    }),
    input: Type.Unsafe<unknown>({
      description:
        'A text, or a list of items: messages (with or without `type`), calls and outputs of functions, custom tools and local shells, `compaction` and `item_reference`. Items of reasoning and of web searches are skipped; all others are 400.',
    }),
    instructions: Type.Optional(nullable(Type.String(), 'A system message before the input.')),
    stream: flag('True returns the response as server-sent events; the default is false.'),
    store: flag(
      'False keeps nothing of this turn in conversations that the gateway keeps itself (agents of the platform `openai`); the default is true.',
    ),
    background: flag('Only false is supported.'),
    conversation: anything('The id of the conversation to continue, as a string or as `{"id": "…"}`.'),
    previous_response_id: Type.Optional(
      id('The latest response of a conversation, which then goes on. Not together with `conversation`.'),
    ),
    metadata: Type.Optional(
      nullable(
        Type.Object({ conversation_id: Type.Optional(id('The conversation to continue.')) }, Open),
        'Is returned as it is; only `conversation_id` has an effect.',
      ),
    ),
    answer: Type.Optional(nullable(ref(PauseAnswerSchema), 'Answers a pause; an addition of the gateway.')),
    user: Type.Optional(id(END_USER_DESCRIPTIONS.asked)),
    include: Type.Optional(
      nullable(
        Type.Array(Type.String()),
        '`trunkline.detail` adds the progress of the run: repeated `response.in_progress` events with a field `trunkline`. `message.output_text.logprobs` asks agents of the platform `openai` how likely the tokens were. Everything else is ignored.',
      ),
    ),
    tools: Type.Optional(
      nullable(
        Type.Array(Type.Object({}, Open)),
        'Functions and custom tools, for agents of the platform `openai` alone; a custom tool is given to the model as a function with the argument `input`. Tools of other kinds are left out, and named in the header `X-Dropped-Tools`.',
      ),
    ),
    tool_choice: anything('Which tool is called; it cannot be one that was left out.'),
    parallel_tool_calls: flag('Whether several tools may be called at once.'),
    text: Type.Optional(
      nullable(
        Type.Object(
          { format: anything('`json_schema` and `json_object` for agents of the platform `openai`.') },
          Open,
        ),
        'The form of the answer.',
      ),
    ),
    reasoning: Type.Optional(
      nullable(Type.Object({}, Open), '`effort` is passed to agents of the platform `openai`.'),
    ),
    temperature: count('Passed to agents of the platform `openai`.'),
    top_p: count('Passed to agents of the platform `openai`.'),
    max_output_tokens: count('Passed to agents of the platform `openai`.'),
    top_logprobs: count(
      'How many alternatives are returned for each token, with their log probabilities. Passed to agents of the platform `openai`.',
    ),
  },
  {
    $id: 'ResponseRequest',
    ...Open,
    description:
      "A request of OpenAI's Responses API. What is null or empty counts as absent, and parameters that are not listed are ignored; docs/tools.md lists what each platform honours.",
    examples: [{ model: 'fastgpt', input: 'Hello', stream: true }],
  },
)
export type ResponseRequest = Static<typeof ResponseRequestSchema>

const Item = Type.Object(
  {
    type: oneOf(['message', 'reasoning', 'function_call', 'custom_tool_call'], 'What the item is.'),
    id: Type.String({ description: 'The id of the item, the same in all events.' }),
  },
  { ...Open, description: 'A message, a summary of reasoning, or a call of a function or custom tool.' },
)
const Nullable = (description: string) => Type.Unsafe<unknown>({ description })

export const ResponseSchema = Type.Object(
  {
    id: Type.String({ description: '`resp_` followed by the id of the call.' }),
    object: Type.Literal('response', { description: 'Always `response`.' }),
    created_at: Type.Integer({ description: 'When the call began, in seconds since 1970.' }),
    completed_at: nullable(Type.Integer(), 'When it ended, in seconds since 1970; null if it failed.'),
    status: oneOf(['in_progress', 'completed', 'incomplete', 'failed'], 'How far the response is.'),
    incomplete_details: Nullable('Why the answer was cut: `{"reason": …}`; null if it was not.'),
    error: Nullable('`code` and `message` of a failure; null if there was none.'),
    model: Type.String({ description: 'The model that the platform named, or else the one of the request.' }),
    output: Type.Array(Item, { description: 'The items of the reply, at least one message.' }),
    usage: Nullable('The tokens as the platform reported them; null if it reported none.'),
    conversation: Type.Object(
      { id: Type.String({ description: 'Its id.' }) },
      { description: 'The conversation of the call, also where the request named none.' },
    ),
    store: Type.Boolean({ description: 'As in the request; true by default.' }),
    files: Type.Optional(
      Type.Array(ref(ReplyFileSchema), { description: 'The files that the agent has made, at most 20.' }),
    ),
    pause: Type.Optional(ref(PauseSchema)),
  },
  {
    // Not `Response`, a name that the clients of Python's generators have themselves.
    $id: 'ResponseObject',
    ...Open,
    description:
      "A response, in the form of OpenAI's Responses API. Its other fields repeat what was honoured of the request, or have OpenAI's defaults.",
  },
)

export const ResponseEventSchema = Type.Object(
  {
    type: Type.String({ description: 'The event, such as `response.output_text.delta`.' }),
    sequence_number: Type.Integer({ description: 'Counts the events of the stream from 0.' }),
  },
  {
    $id: 'ResponseEvent',
    ...Open,
    description:
      "An event of the Responses API. `data: [DONE]` follows `response.completed` and `response.incomplete`; a failure is an `error` event (with OpenAI's flat fields and the object `error`) followed by `response.failed`, and nothing after it.",
    examples: [
      {
        type: 'response.output_text.delta',
        sequence_number: 4,
        item_id: 'msg_019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10',
        output_index: 0,
        content_index: 0,
        delta: 'Hello',
        logprobs: [],
      },
    ],
  },
)
