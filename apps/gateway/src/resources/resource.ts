import type { TObject } from 'typebox'
import type { Vocabulary } from './vocabulary.ts'

/** What a field is, on every face. An id that leads to an object is written `keyId` and `key` in GraphQL, `key_id` in REST. */
export type Kind =
  | 'id'
  | 'localId'
  | 'text'
  | 'words'
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
  | 'name'
  | 'object'
  | 'objects'

/** A field of a resource. `Value` is what REST and the command line write. */
export interface Field<Value = unknown> {
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
  /** For the compiler alone. */
  readonly value?: Value
}

export type Fields = Readonly<Record<string, Field>>

/** A resource, or an object within one, as every face has it. `Row` is what core gives. */
export interface Resource<in Row, Of extends Fields = Fields> {
  /** Its name in GraphQL and, if it is a component, in `openapi.json`. */
  readonly name: string
  readonly description: string
  readonly fields: Of
  /** The schema of its record in `openapi.json`. */
  readonly schema: TObject & { readonly $id?: string }
  /** The names of the fields in a record, in their order: the header of the CSV. */
  readonly columns: readonly string[]
  /** A row as REST and the command line write it. */
  record(row: Row): RecordOf<Of>
}

type Snake<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${Snake<Rest>}`
  : ''

/** An object as REST and the command line write it. */
export type RecordOf<Of extends Fields> = {
  [Name in keyof Of & string as Snake<Name>]: Of[Name] extends Field<infer Value> ? Value : never
}

export function snake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
