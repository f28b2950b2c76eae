import Type, { type TProperties, type TSchema } from 'typebox'
import type { ExportedList } from '#core/reports/audit-log/audit-log.ts'
import { oneOf } from '#http/response/schemas.ts'
import { type Fields, type Resource, snake } from './resource.ts'
import { meaningsOf, type Vocabulary } from './vocabulary.ts'

/** A condition of a list, by core's name for it. */
export interface Condition {
  readonly kind: 'id' | 'text' | 'name' | 'words' | 'any of' | 'least' | 'flag'
  readonly description: string
  /** The most characters of a text, or the largest number. */
  readonly max: number
  readonly vocabulary?: Vocabulary
}

export type Conditions = Readonly<Record<string, Condition>>

const ID_LENGTH_MAX = 64
/** For a few words in one text. */
const WORDS_LENGTH_MAX = 100

export const byId = (description: string): Condition => ({ kind: 'id', description, max: ID_LENGTH_MAX })
export const byText = (description: string, max: number): Condition => ({ kind: 'text', description, max })
/** By an id that REST names by the word alone, and GraphQL with `Id`. */
export const byName = (description: string, max: number): Condition => ({ kind: 'name', description, max })
export const byWord = (vocabulary: Vocabulary, description: string): Condition => ({
  kind: 'words',
  description,
  max: ID_LENGTH_MAX,
  vocabulary,
})
/** By several words, of which one must hold. REST has them in one text. */
export const byAnyOf = (vocabulary: Vocabulary, description: string): Condition => ({
  kind: 'any of',
  description,
  max: WORDS_LENGTH_MAX,
  vocabulary,
})
/** By the least value of a whole number. */
export const byLeast = (description: string, max: number): Condition => ({ kind: 'least', description, max })
export const byFlag = (description: string): Condition => ({ kind: 'flag', description, max: 1 })

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
  readonly path: ExportedList
  readonly operationId: string
  readonly summary: string
  readonly description: string
  readonly conditions: Conditions
  /** What is said of its range of times; a list in another order has none. */
  readonly range?: RangeTexts
}

/** The conditions as parameters of a query. */
export function conditionParameters(conditions: Conditions): TProperties {
  const each = Object.entries(conditions).map(([name, condition]) => [snake(name), parameter(condition)])
  return Object.fromEntries(each)
}

function parameter({ kind, description, max, vocabulary }: Condition): TSchema {
  switch (kind) {
    case 'words':
      return Type.Optional(oneOf(vocabulary?.words ?? [], description))
    case 'any of':
      return Type.Optional(Type.String({ maxLength: max, description: severalOf(vocabulary, description) }))
    case 'least':
      return Type.Optional(Type.Integer({ minimum: 0, maximum: max, description }))
    case 'flag':
      return Type.Optional(Type.Boolean({ description }))
    default:
      return Type.Optional(Type.String({ maxLength: max, description }))
  }
}

function severalOf(vocabulary: Condition['vocabulary'], description: string): string {
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
