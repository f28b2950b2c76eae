import { type TProperties, Type } from 'typebox'
import { Value } from 'typebox/value'
import { ERRORS } from '#core/base/errors/errors.ts'
import { objectOf } from '#core/base/values/json.ts'
import { type ChatEvent, DETAIL_TYPES, type DetailEvent, type DetailType } from './events.ts'
import { MADE_FILE_TYPES } from './made-file.ts'
import { PAUSE_FIELD_TYPES } from './pause.ts'

const closed = { additionalProperties: false }
const text = Type.String({ minLength: 1 })
const count = Type.Integer({ minimum: 0 })

const anyText = Type.String()
const node = { node_type: Type.Optional(text) }
const withText = { text: anyText }
const json = Type.Object({}, { additionalProperties: true })

const DETAIL_DATA: Readonly<Record<DetailType, TProperties>> = {
  node_started: node,
  node_finished: node,
  tool_call: { arguments: Type.Optional(text), arguments_delta: Type.Optional(text) },
  tool_result: { arguments: Type.Optional(text), output: anyText },
  thought: withText,
  reasoning: withText,
  sources: {
    items: Type.Array(
      Type.Object(
        {
          title: Type.Optional(text),
          url: Type.Optional(text),
          text: Type.Optional(text),
          document: Type.Optional(text),
        },
        closed,
      ),
    ),
  },
  variables: { values: json },
  interaction: {
    question: Type.Optional(text),
    options: Type.Array(anyText),
    form: Type.Optional(Type.Unknown()),
  },
  replaced: withText,
  file: { type: Type.Enum([...MADE_FILE_TYPES]), url: Type.Optional(text), media_type: Type.Optional(text) },
  other: {},
}

const DETAIL = Type.Union(
  DETAIL_TYPES.map((type) =>
    Type.Object(
      {
        type: Type.Literal(type),
        id: Type.Optional(text),
        name: Type.Optional(text),
        status: Type.Optional(text),
        data: Type.Object(DETAIL_DATA[type], closed),
        elapsed_ms: Type.Optional(Type.Integer()),
        raw: Type.Optional(json),
      },
      closed,
    ),
  ),
)

const FAILURE = Type.Object(
  {
    reason: Type.Enum(Object.keys(ERRORS)),
    message: Type.Optional(Type.String({ minLength: 1, maxLength: 600 })),
    retryAfterSeconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 60 })),
    turn: Type.Optional(Type.Literal('none')),
    isPage: Type.Optional(Type.Literal(true)),
    outdatesCard: Type.Optional(Type.Literal(true)),
    refusedFields: Type.Optional(Type.Array(Type.Enum(['stream_options', 'user']))),
    platformStatus: Type.Optional(count),
    platformCode: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
    platformLogId: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
  },
  closed,
)

const FILE = Type.Object(
  {
    type: Type.Enum([...MADE_FILE_TYPES]),
    url: Type.Optional(text),
    name: Type.Optional(text),
    mediaType: Type.Optional(text),
  },
  closed,
)

const PAUSE = Type.Object(
  {
    question: anyText,
    options: Type.Array(Type.Object({ id: text, title: text }, closed)),
    fields: Type.Array(
      Type.Object(
        {
          name: text,
          label: Type.Optional(text),
          type: Type.Enum([...PAUSE_FIELD_TYPES]),
          required: Type.Boolean(),
          options: Type.Optional(Type.Array(text)),
          default: Type.Optional(Type.Unknown()),
        },
        closed,
      ),
    ),
    expiresAt: Type.Optional(text),
    takesText: Type.Boolean(),
    unanswerable: Type.Optional(text),
    resume: Type.Optional(json),
  },
  closed,
)

const CHAT_EVENT = Type.Union([
  Type.Object({ type: Type.Enum(['text', 'reasoning']), text }, closed),
  Type.Object({ type: Type.Literal('replace'), text: Type.String(), detail: Type.Optional(DETAIL) }, closed),
  Type.Object({ type: Type.Literal('pause'), pause: PAUSE }, closed),
  Type.Object({ type: Type.Literal('file'), file: FILE }, closed),
  Type.Object(
    { type: Type.Literal('tool_calls'), delta: Type.Array(Type.Unknown(), { minItems: 1 }) },
    closed,
  ),
  Type.Object({ type: Type.Literal('detail'), detail: DETAIL }, closed),
  Type.Object({ type: Type.Literal('model'), model: text }, closed),
  Type.Object(
    {
      type: Type.Literal('usage'),
      usage: Type.Object(
        {
          promptTokens: count,
          completionTokens: count,
          totalTokens: count,
          cachedTokens: Type.Optional(count),
          reasoningTokens: Type.Optional(count),
        },
        closed,
      ),
    },
    closed,
  ),
  Type.Object({ type: Type.Literal('logprobs'), logprobs: json }, closed),
  Type.Object(
    { type: Type.Literal('citations'), top: json, annotations: Type.Array(Type.Unknown()) },
    closed,
  ),
  Type.Object(
    {
      type: Type.Literal('end'),
      reason: Type.Enum(['stop', 'length', 'content_filter', 'tool_calls']),
      unknownWord: Type.Optional(Type.String({ maxLength: 40 })),
    },
    closed,
  ),
  Type.Object({ type: Type.Literal('error'), failure: FAILURE }, closed),
])

/** Checks at run time that a value is a `ChatEvent`, since types cannot guarantee it for untrusted JSON. */
export function isChatEvent(value: unknown): boolean {
  // As a client receives it, which proves as well that it can be written as JSON.
  return Value.Check(CHAT_EVENT, JSON.parse(JSON.stringify(withDetail(value))))
}

/** The details of the events, as clients receive them. */
export function detailsIn(events: readonly ChatEvent[]): readonly DetailEvent[] {
  return JSON.parse(JSON.stringify(events.flatMap((event) => ('detail' in event ? [event.detail?.()] : []))))
}

function withDetail(value: unknown): unknown {
  const { detail } = objectOf(value)
  return typeof detail === 'function' ? { ...objectOf(value), detail: detail() } : value
}
