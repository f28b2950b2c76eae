import type { Field, Fields, Kind, RecordOf, Resource } from './resource.ts'
import type { Vocabulary } from './vocabulary.ts'

function field<Value>(kind: Kind, description: string, more: Partial<Field> = {}): Field<Value> {
  return { kind, description, isNullable: false, ...(more as Partial<Field<Value>>) }
}

/** The field may be null. */
export function nullable<Value>(of: Field<Value>): Field<Value | null> {
  return { ...(of as Field<Value | null>), isNullable: true }
}

/** A UUID. */
export const id = (description: string) => field<string>('id', description)
/**
 * An id that is unique only within the object that has this one. GraphQL writes it as `deploymentId`, because its clients store
 * objects by their `id`.
 */
export const localId = (description: string) => field<string>('localId', description)
/** @param known - words of which a newer version of the gateway may have others */
export const text = (description: string, known?: readonly string[]) =>
  field<string>('text', description, known && { known })
export const texts = (description: string) => field<string[]>('texts', description)
export const integer = (description: string, minimum?: number) =>
  field<number>('integer', description, minimum === undefined ? {} : { minimum })
/** A number that need not be whole. */
export const number = (description: string, minimum?: number) =>
  field<number>('number', description, minimum === undefined ? {} : { minimum })
/** A whole number of something, from 0. */
export const count = (description: string) => integer(description, 0)
/** A whole number that may need more than 32 bits. */
export const large = (description: string, minimum?: number) =>
  field<number>('large', description, minimum === undefined ? {} : { minimum })
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
