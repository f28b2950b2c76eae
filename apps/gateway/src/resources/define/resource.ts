import type { TObject } from 'typebox'
import type { Vocabulary } from './vocabulary.ts'

/**
 * What a field is, on every face. An id that leads to an object is written `keyId` and `key` in GraphQL, and `key_id` in REST,
 * or, if REST names it by the word alone, `createdById` and `createdBy`, and `created_by`.
 */
export type Kind =
  | 'id'
  | 'localId'
  | 'text'
  | 'words'
  | 'word list'
  | 'integer'
  | 'number'
  | 'large'
  | 'time'
  | 'flag'
  | 'json'
  | 'texts'
  | 'key'
  | 'user'
  | 'agent'
  | 'call'
  | 'name'
  | 'object'
  | 'objects'

/** A field of a resource. `Value` is what REST and the command line write, `Given` what the row may have. */
export interface Field<Value = unknown, Given = never> {
  readonly kind: Kind
  readonly description: string
  readonly isNullable: boolean
  /** What GraphQL says of the object to which an id leads. */
  readonly object?: string
  /** The words that a text has, as far as this version knows. */
  readonly known?: readonly string[]
  readonly vocabulary?: Vocabulary
  readonly minimum?: number
  readonly of?: Resource<never>
  /** The columns of which the value is computed; by default it is that of the row under the name of the field. */
  readonly columns?: readonly string[]
  readonly compute?: (row: never, view: never) => unknown
  /** For the compiler alone. */
  readonly value?: Value
  readonly given?: (value: Given) => void
}

/** What values may depend on besides their row. */
export interface View {
  readonly now: Date
  /** Whether the caller sees what platforms said of a call, and which process served it. */
  readonly seesPlatform: boolean
}

export type Fields = Readonly<Record<string, Field>>

/**
 * A resource, or an object within one, as every face has it. `Row` is what core gives, and `Seen` what of a {@link View} its
 * values depend on.
 */
export interface Resource<in Row, Of extends Fields = Fields, in Seen = never> {
  /** Its name in GraphQL and, if it is a component, in `openapi.json`. */
  readonly name: string
  readonly description: string
  readonly fields: Of
  /** The schema of its record in `openapi.json`. */
  readonly schema: TObject & { readonly $id?: string }
  /** The names of the fields in a record, in their order: the header of the CSV. */
  readonly columns: readonly string[]
  /** A row as REST and the command line write it. */
  record(row: Row, view: Seen): RecordOf<Of>
}

/** A resource whose values depend on nothing but the row. */
export interface PlainResource<in Row, Of extends Fields = Fields> extends Resource<Row, Of, unknown> {
  record(row: Row): RecordOf<Of>
}

type Snake<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${Snake<Rest>}`
  : ''

/** An object as REST and the command line write it. */
export type RecordOf<Of extends Fields> = {
  [Name in keyof Of & string as Snake<Name>]: Of[Name] extends Field<infer Value> ? Value : never
}

/** The columns of the row that a field, or all fields of an object, are read from. */
export function columnsOf([name, { columns }]: readonly [name: string, field: Field]): readonly string[] {
  return columns ?? [name]
}

export function snake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
