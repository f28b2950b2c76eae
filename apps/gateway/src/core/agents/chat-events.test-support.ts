import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { ERRORS } from '#core/errors.ts'
import { DETAIL_TYPES } from './events.ts'

const closed = { additionalProperties: false }
const text = Type.String({ minLength: 1 })
const count = Type.Integer({ minimum: 0 })

const DETAIL = Type.Object(
  {
    type: Type.Enum([...DETAIL_TYPES]),
    id: Type.Optional(text),
    name: Type.Optional(text),
    status: Type.Optional(text),
    data: Type.Optional(Type.Unknown()),
    elapsed_ms: Type.Optional(Type.Integer()),
  },
  closed,
)

const FAILURE = Type.Object(
  {
    reason: Type.Enum(Object.keys(ERRORS)),
    message: Type.Optional(Type.String({ minLength: 1, maxLength: 600 })),
    retryAfterSeconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 60 })),
    platformStatus: Type.Optional(count),
    platformCode: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
    platformLogId: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
  },
  closed,
)

const CHAT_EVENT = Type.Union([
  Type.Object({ type: Type.Enum(['text', 'reasoning']), text }, closed),
  Type.Object({ type: Type.Literal('replace'), text: Type.String() }, closed),
  Type.Object(
    { type: Type.Literal('interaction'), question: Type.String(), options: Type.Array(Type.String()) },
    closed,
  ),
  Type.Object(
    { type: Type.Literal('tool_calls'), delta: Type.Array(Type.Unknown(), { minItems: 1 }) },
    closed,
  ),
  Type.Object({ type: Type.Literal('detail'), detail: DETAIL }, closed),
  Type.Object({ type: Type.Literal('model'), model: text }, closed),
  Type.Object(
    {
      type: Type.Literal('usage'),
      usage: Type.Object({ promptTokens: count, completionTokens: count, totalTokens: count }, closed),
    },
    closed,
  ),
  Type.Object(
    { type: Type.Literal('end'), reason: Type.Enum(['stop', 'length', 'content_filter', 'tool_calls']) },
    closed,
  ),
  Type.Object({ type: Type.Literal('error'), failure: FAILURE }, closed),
])

/** Checks at run time that a value is a `ChatEvent`, since types cannot guarantee it for untrusted JSON. */
export function isChatEvent(value: unknown): boolean {
  return Value.Check(CHAT_EVENT, value)
}
