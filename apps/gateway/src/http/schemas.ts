import Type, { type Static, type TProperties, type TSchema } from 'typebox'
import { ERRORS, type ErrorReason } from '#core/errors.ts'
import { PAGE_ITEMS_MAX, type Page } from '#core/pagination.ts'

/**
 * Pieces of the contract that several routes share. A schema with an `$id` is a named component of `openapi.json`:
 * it is registered once ({@link COMPONENTS} in the route files) and referred to by {@link ref}.
 */
export function ref<Schema extends TSchema & { $id?: string }>(schema: Schema) {
  return Type.Unsafe<Static<Schema>>({ $ref: `${schema.$id}#` })
}

export const Timestamp = Type.String({
  format: 'date-time',
  description: 'ISO 8601, UTC.',
  examples: ['2026-11-20T08:30:00.000Z'],
})

export const Uuid = Type.String({ format: 'uuid', examples: ['019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10'] })

/** One of a few words; an `enum` in the contract. */
export function oneOf<const Words extends readonly string[]>(words: Words, description?: string) {
  return Type.Unsafe<Words[number]>({
    type: 'string',
    enum: [...words],
    ...(description !== undefined && { description }),
  })
}

export function nullable<Schema extends TSchema>(schema: Schema) {
  return Type.Union([schema, Type.Null()])
}

export const ErrorBodySchema = Type.Object(
  {
    code: Type.Integer({ description: 'The HTTP status.', examples: [400] }),
    msg: Type.String({
      description: 'A short public text of the reason.',
      examples: ['The request is not valid.'],
    }),
    detail: Type.String({
      description: 'What exactly: the field and what was expected.',
      examples: ['body.query: is required; expected a string.'],
    }),
    reason: Type.String({ description: 'A stable word for programs.', examples: ['invalid_request'] }),
    request_id: Type.String({
      description: 'The same as the header X-Request-Id.',
      examples: ['019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10'],
    }),
  },
  { $id: 'ErrorBody', description: 'The body of every error.' },
)

/** The standard envelope around a payload. */
export function envelope<Data extends TSchema>(data: Data, description = 'Success.') {
  return Type.Object(
    { code: Type.Literal(0), msg: Type.Literal('Success'), data },
    { description, additionalProperties: false },
  )
}

export function success<Data>(data: Data): { code: 0; msg: 'Success'; data: Data } {
  return { code: 0, msg: 'Success', data }
}

/** The payload of every list. */
export function page<Item extends TSchema>(item: Item) {
  return Type.Object({
    items: Type.Array(item),
    next_cursor: Type.Union([Type.String(), Type.Null()], {
      description: 'Passed as `cursor` it gives the next page; null on the last one.',
    }),
  })
}

export function pageRecord<Item, Shown>(
  { items, nextCursor }: Page<Item>,
  show: (item: Item) => Shown,
): { items: Shown[]; next_cursor: string | null } {
  return { items: items.map(show), next_cursor: nextCursor }
}

export const PageQuery = {
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: PAGE_ITEMS_MAX, default: 20, description: 'Items a page.' }),
  ),
  cursor: Type.Optional(Type.String({ maxLength: 200, description: '`next_cursor` of the page before.' })),
} satisfies TProperties

/** What every route can end with. */
const COMMON_REASONS = ['invalid_host', 'internal_error', 'draining'] as const satisfies ErrorReason[]

/** Response schemas for the reasons a route can end with, one entry a status. */
export function problems(...reasons: readonly ErrorReason[]): Record<number, TSchema> {
  return problemsAs(ErrorBodySchema, reasons)
}

/** The same, with the body of a face that has its own. */
export function problemsAs(
  body: TSchema & { $id?: string },
  reasons: readonly ErrorReason[],
): Record<number, TSchema> {
  const byStatus = Map.groupBy(new Set([...reasons, ...COMMON_REASONS]), (reason) => ERRORS[reason].status)
  return Object.fromEntries(
    [...byStatus].map(([status, list]) => [
      status,
      { ...ref(body), description: `\`reason\`: ${list.join(', ')}.` },
    ]),
  )
}
