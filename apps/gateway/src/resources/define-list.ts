import Type, { type TProperties, type TSchema } from 'typebox'
import { oneOf } from '#http/response/schemas.ts'
import { type Fields, type Resource, snake } from './resource.ts'
import type { Vocabulary } from './vocabulary.ts'

/** A condition of a list, by core's name for it. */
export interface Condition {
  readonly kind: 'id' | 'text' | 'words' | 'name'
  readonly description: string
  readonly maxLength: number
  readonly vocabulary?: Vocabulary
}

export type Conditions = Readonly<Record<string, Condition>>

const ID_LENGTH_MAX = 64

export const byId = (description: string): Condition => ({
  kind: 'id',
  description,
  maxLength: ID_LENGTH_MAX,
})
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
export interface ListDefinition<Row = never, Of extends Fields = Fields> {
  readonly of: Resource<Row, Of>
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
export type Selection = Pick<ListDefinition, 'conditions' | 'range'> & {
  readonly of: Pick<Resource<never>, 'fields'>
}

/** The conditions by the id of a user, with the words for them on the command line, which takes the name of the user. */
export function usernameOptions({ of: { fields }, conditions }: Selection): ReadonlyMap<string, string> {
  const names = Object.keys(conditions).filter((name) => fields[name]?.kind === 'user')
  return new Map(names.map((name) => [name, name.replace(/Id$/, '')]))
}

/** The conditions as parameters of a query. */
export function conditionParameters(conditions: Conditions): TProperties {
  const each = Object.entries(conditions).map(([name, condition]) => [snake(name), parameter(condition)])
  return Object.fromEntries(each)
}

function parameter({ description, maxLength, vocabulary }: Condition): TSchema {
  return Type.Optional(
    vocabulary === undefined ? Type.String({ maxLength, description }) : oneOf(vocabulary.words, description),
  )
}

/** The conditions that a query of REST has, by core's names. */
export function conditionsIn(conditions: Conditions, query: Readonly<Record<string, unknown>>) {
  return Object.fromEntries(Object.keys(conditions).map((name) => [name, query[snake(name)]]))
}
