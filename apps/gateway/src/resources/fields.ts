import type { Resource } from './define-resource.ts'
import type { Vocabulary } from './vocabulary.ts'

/** What a field is, on every face. An id that leads to an object is written `keyId` and `key` in GraphQL, `key_id` in REST. */
export type Kind =
  | 'id'
  | 'text'
  | 'words'
  | 'integer'
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

function field<Value>(kind: Kind, description: string, more: Partial<Field> = {}): Field<Value> {
  return { kind, description, isNullable: false, ...(more as Partial<Field<Value>>) }
}

/** The field may be null. */
export function nullable<Value>(of: Field<Value>): Field<Value | null> {
  return { ...(of as Field<Value | null>), isNullable: true }
}

/** A UUID. */
export const id = (description: string) => field<string>('id', description)
/** @param known - words of which a newer version of the gateway may have others */
export const text = (description: string, known?: readonly string[]) =>
  field<string>('text', description, known && { known })
export const texts = (description: string) => field<string[]>('texts', description)
export const integer = (description: string, minimum?: number) =>
  field<number>('integer', description, minimum === undefined ? {} : { minimum })
/** A whole number of something, from 0. */
export const count = (description: string) => integer(description, 0)
/** A whole number that may need more than 32 bits. */
export const large = (description: string, minimum: number) =>
  field<number>('large', description, { minimum })
export const flag = (description: string) => field<boolean>('flag', description)
export const time = (description: string) => field<string>('time', description)
/** The JSON of an object, which the row has as a text. */
export const json = (description: string) => field<Record<string, unknown>>('json', description)

/** A word of a vocabulary: an enum, in GraphQL in capitals. */
export const words = <Word extends string>(vocabulary: Vocabulary<Word>, description: string) =>
  field<Word>('words', description, { vocabulary: vocabulary as Vocabulary })

/** The id of an API key, and what GraphQL says of the key. */
export const key = (description: string, object: string) => field<string>('key', description, { object })
/** The id of a user, and what GraphQL says of the user. */
export const user = (description: string, object: string) => field<string>('user', description, { object })
/** The id of an agent, which REST names by the word alone, and what GraphQL says of the agent. */
export const agent = (description: string, object: string) => field<string>('agent', description, { object })
/** An id that REST names by the word alone, and GraphQL with `Id`. */
export const name = (description: string) => field<string>('name', description)

export const object = <Of extends Fields>(of: Resource<never, Of>, description: string) =>
  field<RecordOf<Of>>('object', description, { of })
export const objects = <Of extends Fields>(of: Resource<never, Of>, description: string) =>
  field<RecordOf<Of>[]>('objects', description, { of })
