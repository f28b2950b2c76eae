import Type, { type TProperties, type TSchema } from 'typebox'
import { CURSOR_LENGTH_MAX, DIRECTIONS, type OrderFields } from '#core/lists/list-order.ts'
import { listQuery, oneOf, PageQuery } from '#http/response/schemas.ts'
import { type Fields, type Resource, snake } from './resource.ts'
import { closed, meaningsOf, type Vocabulary } from './vocabulary.ts'

/** A condition of a list, by core's name for it. */
export interface Condition {
  readonly kind: 'id' | 'user' | 'text' | 'name' | 'words' | 'any of' | 'time' | 'integer' | 'flag'
  readonly description: string
  readonly maxLength: number
  readonly vocabulary?: Vocabulary
  readonly minimum?: number
  readonly maximum?: number
}

export type Conditions = Readonly<Record<string, Condition>>

const ID_LENGTH_MAX = 64
/** For a few words in one text. */
const WORDS_LENGTH_MAX = 100

export const byId = (description: string): Condition => ({
  kind: 'id',
  description,
  maxLength: ID_LENGTH_MAX,
})
/** By the id of a user. */
export const byUser = (description: string): Condition => ({ ...byId(description), kind: 'user' })
export const byText = (description: string, maxLength: number): Condition => ({
  kind: 'text',
  description,
  maxLength,
})
/** By an id that REST names by the word alone, and GraphQL with `Id`. */
export const byName = (description: string, maxLength: number): Condition => ({
  kind: 'name',
  description,
  maxLength,
})
export const byWord = (vocabulary: Vocabulary, description: string): Condition => ({
  kind: 'words',
  description,
  maxLength: ID_LENGTH_MAX,
  vocabulary,
})
/** By several words, of which one must hold. REST has them in one text. */
export const byAnyOf = (vocabulary: Vocabulary, description: string): Condition => ({
  kind: 'any of',
  description,
  maxLength: WORDS_LENGTH_MAX,
  vocabulary,
})
export const byFlag = (description: string): Condition => ({
  kind: 'flag',
  description,
  maxLength: ID_LENGTH_MAX,
})
/** By a time in ISO 8601. */
export const byTime = (description: string): Condition => ({
  kind: 'time',
  description,
  maxLength: ID_LENGTH_MAX,
})
/** By a whole number within these bounds. */
export const byInteger = (
  description: string,
  bounds: Pick<Condition, 'minimum' | 'maximum'>,
): Condition => ({
  kind: 'integer',
  description,
  maxLength: ID_LENGTH_MAX,
  ...bounds,
})

/** The conditions of a list whose filter core reads as this: one that core does not know is an error at its line. */
export type ConditionsOf<Filter> = { readonly [Name in keyof Filter]?: Condition }

/** What is said of a range of times and its time zone. */
export type RangeTexts = Readonly<Record<'fromTime' | 'toTime' | 'timezoneName', string>>

/** @param what - what the range selects, such as `requests refused` */
export function rangeOf(what: string): RangeTexts {
  return {
    fromTime: `Only ${what} at this time or later: ISO 8601 with a time zone, or a date, such as \`2026-10-01\`, which stands for the start of that day in \`timezone\`.`,
    toTime: `Only ${what} before this time, in the same form as \`from\`, which must not be later: a date stands for the start of that day, which is not included.`,
    timezoneName:
      'The IANA name of the time zone in which the days of `from` and `to` begin, such as `Asia/Shanghai`; UTC by default.',
  }
}

/** A list of a resource, in pages that go forwards, and as one CSV. */
export interface ListDefinition<Row = never, Of extends Fields = Fields, Seen = unknown> {
  readonly of: Resource<Row, Of, Seen>
  /** The last part of the path; also the tag, the name of the CSV, and the list in the audit log. */
  readonly path: string
  readonly operationId: string
  readonly summary: string
  readonly description: string
  readonly conditions: Conditions
  /** What is said of its range of times; a list in another order has none. */
  readonly range?: RangeTexts
}

/** What selects the items of a list. */
export type Selection = Pick<ListDefinition, 'conditions' | 'range'>

/** The conditions by the id of a user, with the words for them on the command line, which takes the name of the user. */
export function usernameOptions({ conditions }: Selection): ReadonlyMap<string, string> {
  const users = Object.entries(conditions).filter(([, { kind }]) => kind === 'user')
  return new Map(users.map(([name]) => [name, name.replace(/Id$/, '')]))
}

/** The conditions as parameters of a query. */
export function conditionParameters(conditions: Conditions): TProperties {
  const each = Object.entries(conditions).map(([name, condition]) => [snake(name), parameter(condition)])
  return Object.fromEntries(each)
}

function parameter(condition: Condition): TSchema {
  const { kind, description, maxLength, minimum, maximum } = condition
  const bounds = { ...(minimum !== undefined && { minimum }), ...(maximum !== undefined && { maximum }) }
  switch (kind) {
    case 'words':
      return Type.Optional(oneOf(condition.vocabulary?.words ?? [], description))
    case 'any of':
      return Type.Optional(Type.String({ maxLength, description: severalOf(condition) }))
    case 'integer':
      return Type.Optional(Type.Integer({ ...bounds, description }))
    case 'flag':
      return Type.Optional(Type.Boolean({ description }))
    default:
      return Type.Optional(Type.String({ maxLength, description }))
  }
}

function severalOf({ vocabulary, description }: Condition): string {
  const text = `${description} Several are separated by commas.`
  return vocabulary === undefined ? text : meaningsOf(vocabulary, text)
}

/** The conditions that a query of REST has, by core's names. */
export function conditionsIn(conditions: Conditions, query: Readonly<Record<string, unknown>>) {
  return Object.fromEntries(
    Object.entries(conditions).map(([name, { kind }]) => {
      const value = query[snake(name)]
      return [name, kind === 'any of' && typeof value === 'string' ? value.split(',') : value]
    }),
  )
}

/** What callers can order a list by. */
export interface Orders<Order extends string = string> {
  /** Core's fields, of which the first is the default. */
  readonly fields: OrderFields<Order>
  readonly vocabulary: Vocabulary<Order>
  /** What is said of the field, and of the direction. */
  readonly texts: Readonly<Record<'orderBy' | 'order', string>>
}

/** @param name - the name of the enum in GraphQL */
export function ordersOf<Order extends string>(
  name: string,
  fields: OrderFields<Order>,
  description: string,
  meanings: Readonly<Record<Order, string>>,
  texts: Orders['texts'],
): Orders<Order> {
  const vocabulary = closed(name, Object.keys(fields) as Order[], description, meanings)
  return { fields, vocabulary, texts }
}

export const ORDER_DIRECTION = closed('OrderDirection', DIRECTIONS, 'The direction of an order.', {
  asc: 'From the first to the last, from the oldest to the newest, and from the smallest to the largest.',
  desc: 'From the last to the first, from the newest to the oldest, and from the largest to the smallest.',
})

/** A list of a resource in an order that callers choose. */
export interface OrderedListDefinition<Row = never, Order extends string = string, Seen = never>
  extends Omit<ListDefinition<Row, Fields, Seen>, 'path' | 'range'> {
  /** The last part of the path; also the tag. */
  readonly path: string
  readonly orders: Orders<Order>
}

/** The parameters of the query of an ordered list. */
export function orderedQuery({ conditions, orders: { vocabulary, texts } }: OrderedListDefinition) {
  return listQuery({
    ...PageQuery,
    cursor: Type.Optional(
      Type.String({
        maxLength: CURSOR_LENGTH_MAX,
        description:
          'The `next_cursor` of the previous page. Omit it to get the first page. A cursor is for lists with the same `order_by`.',
      }),
    ),
    ...conditionParameters(conditions),
    order_by: Type.Optional({ ...oneOf(vocabulary.words, texts.orderBy), default: vocabulary.words[0] }),
    order: Type.Optional(oneOf(DIRECTIONS, texts.order)),
  })
}
