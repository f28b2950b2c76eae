import { columnsOf, type Field, type Fields, type Kind, type RecordOf, type Resource } from './resource.ts'
import type { Vocabulary } from './vocabulary.ts'

function field<Value, Given = Value>(
  kind: Kind,
  description: string,
  more: Partial<Field> = {},
): Field<Value, Given> {
  return { kind, description, isNullable: false, ...(more as Partial<Field<Value, Given>>) }
}

/** The field may be null. */
export function nullable<Value, Given>(of: Field<Value, Given>): Field<Value | null, Given | null> {
  return { ...(of as Field<Value | null, Given | null>), isNullable: true }
}

interface Computed<Column extends string> {
  readonly columns: readonly Column[]
}

/** Makes fields whose values are computed of columns of a row. */
export function derivedFrom<Row extends object, Seen = unknown>() {
  type Column = keyof Row & string
  return {
    computed: <Value, Given, Read extends Column>(
      of: Field<Value, Given>,
      columns: readonly Read[],
      compute: (row: Pick<Row, Read>, view: Seen) => Given,
    ): Field<Value, Given> & Computed<Read> => ({ ...of, columns, compute }),
    /** An object within the resource that is made of the same row. */
    part: <Of extends Fields>(
      of: Resource<Row, Of, Seen>,
      description: string,
    ): Field<RecordOf<Of>, Row> & Computed<Column> => ({
      ...object(of, description),
      columns: Object.entries(of.fields).flatMap(columnsOf) as Column[],
      compute: (row: Row) => row,
    }),
  }
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
export const texts = (description: string) => field<string[], readonly string[]>('texts', description)
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
export const time = (description: string) => field<string, Date | string>('time', description)
/** The JSON of an object, which the row has as a text. */
export const json = (description: string) => field<Record<string, unknown>, string>('json', description)

/** A word of a vocabulary: an enum, in GraphQL in capitals. */
export const words = <Word extends string>(vocabulary: Vocabulary<Word>, description: string) =>
  field<Word>('words', description, { vocabulary: vocabulary as Vocabulary })

/** Several words of a vocabulary. */
export const wordList = <Word extends string>(vocabulary: Vocabulary<Word>, description: string) =>
  field<Word[], readonly Word[]>('word list', description, { vocabulary: vocabulary as Vocabulary })

/** The id of an API key, and what GraphQL says of the key. */
export const key = (description: string, object: string) => field<string>('key', description, { object })
/** The id of a user, and what GraphQL says of the user. */
export const user = (description: string, object: string) => field<string>('user', description, { object })
/** The id of an agent, which REST names by the word alone, and what GraphQL says of the agent. */
export const agent = (description: string, object: string) => field<string>('agent', description, { object })
/** The id of a call, and what GraphQL says of the call. */
export const call = (description: string, object: string) => field<string>('call', description, { object })
/** An id that REST names by the word alone, and GraphQL with `Id`. */
export const name = (description: string) => field<string>('name', description)

export const object = <Row, Of extends Fields>(of: Resource<Row, Of>, description: string) =>
  field<RecordOf<Of>, Row>('object', description, { of })
export const objects = <Row, Of extends Fields>(of: Resource<Row, Of>, description: string) =>
  field<RecordOf<Of>[], readonly Row[]>('objects', description, { of })
