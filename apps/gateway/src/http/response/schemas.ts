import Type, { type Static, type TProperties, type TSchema } from 'typebox'
import { ERRORS, type ErrorReason, MISTAKES_MAX } from '#core/base/errors/errors.ts'
import { PAGE_ITEMS_MAX, type Page } from '#core/requests/input/pagination.ts'

/**
 * Refers to a named component of `openapi.json`. A schema with an `$id` is such a component; the file of its routes
 * registers it once with `addSchema`.
 */
export function ref<Schema extends TSchema & { $id?: string }>(schema: Schema) {
  return Type.Unsafe<Static<Schema>>({ $ref: `${schema.$id}#` })
}

export const Timestamp = Type.String({
  format: 'date-time',
  description: 'A time in ISO 8601, in UTC.',
  examples: ['2026-11-20T08:30:00.000Z'],
})

/** A {@link Timestamp} with the description of the moment that it holds. */
export function timestamp(sentence: string) {
  return { ...Timestamp, description: sentence.replace(/\.$/, ' (ISO 8601, UTC).') }
}

export const Uuid = Type.String({ format: 'uuid', examples: ['019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10'] })

/** A {@link Uuid} with a description of what it identifies. */
export function uuid(description: string) {
  return { ...Uuid, description }
}

/** A string that is one of a few words; an `enum` in the contract. */
export function oneOf<const Words extends readonly string[]>(words: Words, description?: string) {
  return Type.Unsafe<Words[number]>({
    type: 'string',
    enum: [...words],
    ...(description !== undefined && { description }),
  })
}

/**
 * A stored word, which is one of these unless a newer version of the gateway on the same database has written it: no `enum`, but
 * `x-extensible-enum` in the contract.
 */
export function openOneOf(words: readonly string[], description?: string) {
  const options = { examples: [...words], 'x-extensible-enum': [...words] }
  return Type.String({ ...options, ...(description !== undefined && { description }) })
}

export function nullable<Schema extends TSchema>(schema: Schema, description?: string) {
  return Type.Union([schema, Type.Null()], description === undefined ? {} : { description })
}

export const ErrorBodySchema = Type.Object(
  {
    code: Type.Integer({ description: 'The HTTP status of the response.', examples: [400] }),
    msg: Type.String({
      description: 'A short sentence for people, the same for every error with this `reason`.',
      examples: ['The request is not valid.'],
    }),
    detail: Type.String({
      description:
        'What exactly went wrong. Where a field is not valid, the text names it and says what was expected.',
      examples: ['body.query: is required; expected a string.'],
    }),
    reason: Type.String({
      description: 'A stable word that identifies the error. Programs should compare this field.',
      examples: ['invalid_request'],
    }),
    request_id: Type.String({
      description: 'The id of the request, also sent in the header `X-Request-Id`.',
      examples: ['019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10'],
    }),
    fields: Type.Optional(
      Type.Array(
        Type.Object({
          field: Type.String({
            description: 'The place of the input in the request, as `detail` names it.',
            examples: ['body.query'],
          }),
          message: Type.String({
            description: 'What is wrong with it and what was expected; never a value of the request.',
            examples: ['is required; expected a string.'],
          }),
        }),
        {
          minItems: 1,
          maxItems: MISTAKES_MAX,
          description:
            'Every input that is at fault, in the order of the schema, and also if it is only one; `detail` says the same of the first. It is absent where no input is at fault. Mistakes that only the database shows, such as a username that is taken, come alone.',
        },
      ),
    ),
  },
  {
    $id: 'ErrorBody',
    description: 'The body of every error response, except on the OpenAI-compatible routes.',
  },
)

/** The schema of the envelope that REST puts around the payload of every successful response. */
export function envelope<Data extends TSchema>(data: Data, description = 'Success.') {
  return Type.Object(
    {
      code: Type.Literal(0, { description: 'Always 0 on success.' }),
      msg: Type.Literal('Success', { description: 'Always `Success`.' }),
      data,
    },
    { description, additionalProperties: false },
  )
}

/** A payload in the envelope that {@link envelope} describes. */
export function success<Data>(data: Data): { code: 0; msg: 'Success'; data: Data } {
  return { code: 0, msg: 'Success', data }
}

/** The schema of the payload of every list. */
export function page<Item extends TSchema>(item: Item) {
  return Type.Object({
    items: Type.Array(item, { description: 'The items of this page.' }),
    next_cursor: Type.Union([Type.String(), Type.Null()], {
      description: 'Send this value as `cursor` to get the next page. Null on the last page.',
    }),
  })
}

/** A page in the form that {@link page} describes, each of its items as `show` renders it. */
export function pageRecord<Item, Shown>(
  { items, nextCursor }: Page<Item>,
  show: (item: Item) => Shown,
): { items: Shown[]; next_cursor: string | null } {
  return { items: items.map(show), next_cursor: nextCursor }
}

export const PageQuery = {
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: PAGE_ITEMS_MAX,
      default: 20,
      description: 'The largest number of items on a page.',
    }),
  ),
  cursor: Type.Optional(
    Type.String({
      maxLength: 200,
      description: 'The `next_cursor` of the previous page. Omit it to get the first page.',
    }),
  ),
} satisfies TProperties

/**
 * The schema of the query string of a list or report. Parameters that it does not name are refused, because a filter with a
 * misspelt name would otherwise return everything.
 */
export function listQuery<const Properties extends TProperties>(properties: Properties) {
  return Type.Object(properties, { additionalProperties: false })
}

/** The reasons with which every route can fail. */
const COMMON_REASONS = ['invalid_host', 'internal_error'] as const satisfies ErrorReason[]

/** The response schemas for the reasons with which a route can fail, by HTTP status. */
export function problems(...reasons: readonly ErrorReason[]): Record<number, TSchema> {
  return problemsAs(ErrorBodySchema, reasons)
}

/** Like {@link problems}, for routes outside of `/api/`, which are served while the gateway drains. */
export function problemsOutsideApi(...reasons: readonly ErrorReason[]): Record<number, TSchema> {
  return byStatus(ErrorBodySchema, reasons)
}

/**
 * Like {@link problems}, for a face with an error body of its own. `test/contract` reads the reasons back out of the
 * descriptions, so their form must stay as it is.
 */
export function problemsAs(
  body: TSchema & { $id?: string },
  reasons: readonly ErrorReason[],
): Record<number, TSchema> {
  return byStatus(body, [...reasons, 'draining'])
}

function byStatus(
  body: TSchema & { $id?: string },
  reasons: readonly ErrorReason[],
): Record<number, TSchema> {
  const groups = Map.groupBy(new Set([...reasons, ...COMMON_REASONS]), (reason) => ERRORS[reason].status)
  return Object.fromEntries(
    [...groups].map(([status, list]) => [
      status,
      { ...ref(body), description: `\`reason\`: ${list.join(', ')}.` },
    ]),
  )
}
