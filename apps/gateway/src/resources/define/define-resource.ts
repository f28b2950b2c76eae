import Type, { type TProperties, type TSchema } from 'typebox'
import { isObject, type JsonObject, parseJson } from '#core/base/values/json.ts'
import * as schemas from '#http/response/schemas.ts'
import {
  type Field,
  type Fields,
  type PlainResource,
  type RecordOf,
  type Resource,
  snake,
} from './resource.ts'
import { meaningsOf, type Vocabulary } from './vocabulary.ts'

/** Each field is one of the row, which has a value for it, or is computed of columns of the row. */
type FieldsOf<Row, Of> = {
  readonly [Name in keyof Of]: Name extends keyof Row
    ? Field<unknown, Row[Name]> | ComputedOf<Row>
    : ComputedOf<Row>
}
type ComputedOf<Row> = Field & { readonly columns: readonly (keyof Row)[] }

type Defined<Row, Of extends Fields, Seen> = unknown extends Seen
  ? PlainResource<Row, Of>
  : Resource<Row, Of, Seen>

/**
 * Defines a resource, from which REST, `openapi.json`, CSV, GraphQL and the command line are made.
 *
 * @typeParam Seen - what of a view its values depend on besides their row
 * @param example - its record, if it is a component of `openapi.json`; an object within another resource has none
 */
export function defineResource<Row extends object, Seen = unknown>() {
  return <const Of extends Fields & FieldsOf<Row, Of>>(
    name: string,
    description: string,
    fields: Of,
    example?: NoInfer<RecordOf<Of>>,
  ): Defined<Row, Of, Seen> => {
    const parts = Object.entries(fields).map(([field, spec]) => ({ field, column: snake(field), spec }))
    const properties = parts.map(({ column, spec }) => [column, schemaOf(spec)])
    const resource: Resource<Row, Of, Seen> = {
      name,
      description,
      fields,
      schema: Type.Object(Object.fromEntries(properties) as TProperties, {
        ...(example !== undefined && { $id: name, examples: [example] }),
        description,
      }),
      columns: parts.map(({ column }) => column),
      record(row, view) {
        const record: Record<string, unknown> = {}
        for (const { field, column, spec } of parts)
          record[column] = written(spec, fieldValue(field, spec, row, view), view)
        return record as RecordOf<Of>
      },
    }
    return resource as Defined<Row, Of, Seen>
  }
}

/** The value of a field, computed or as the row has it. */
export function fieldValue(name: string, { compute }: Field, row: object, view: unknown): unknown {
  return compute === undefined ? row[name as keyof typeof row] : compute(row as never, view as never)
}

function written({ kind, of }: Field, value: unknown, view: unknown): unknown {
  if (value === null) return null
  switch (kind) {
    case 'time':
      return value instanceof Date ? value.toISOString() : value
    case 'json':
      return stateOf(value as string)
    case 'object':
      return of?.record(value as never, view as never)
    case 'objects':
      return (value as never[]).map((each) => of?.record(each, view as never))
    default:
      return value
  }
}

/** What is not the JSON of an object is shown as the text that it is. */
export function stateOf(text: string): JsonObject {
  const state = parseJson(text)
  return isObject(state) ? state : { text }
}

function schemaOf(field: Field): TSchema {
  const { description, isNullable } = field
  return isNullable ? schemas.nullable(plainSchema(field), description) : plainSchema(field, description)
}

/** @param description - empty for a type within one that can be null, which has the description itself */
export function plainSchema({ kind, known, vocabulary, minimum, of }: Field, description = ''): TSchema {
  const described = description === '' ? {} : { description }
  switch (kind) {
    case 'id':
    case 'key':
    case 'user':
    case 'call':
      return { ...schemas.Uuid, ...described }
    case 'time':
      return description === '' ? schemas.Timestamp : schemas.timestamp(description)
    case 'integer':
    case 'large':
      return Type.Integer({ ...(minimum !== undefined && { minimum }), ...described })
    case 'number':
      return Type.Number({ ...(minimum !== undefined && { minimum }), ...described })
    case 'flag':
      return Type.Boolean(described)
    case 'json':
      return Type.Record(Type.String(), Type.Unknown(), described)
    case 'texts':
      return Type.Array(Type.String(), described)
    case 'words':
      return wordSchema(vocabularyOf(vocabulary), description)
    case 'word list':
      return Type.Array(wordSchema(vocabularyOf(vocabulary)), described)
    case 'object':
      return { ...objectSchema(of), ...described }
    case 'objects':
      return Type.Array(objectSchema(of), described)
    default:
      return known === undefined ? Type.String(described) : schemas.openOneOf(known, description || undefined)
  }
}

/** The schema of an object, by its name if it is a component. */
export function objectSchema(of: Pick<Resource<never>, 'schema'> | undefined): TSchema {
  if (of === undefined) return Type.Null()
  return of.schema.$id === undefined ? of.schema : schemas.ref(of.schema)
}

function vocabularyOf(vocabulary: Field['vocabulary']): Vocabulary {
  if (vocabulary === undefined) throw new Error('a field of words has no vocabulary')
  return vocabulary
}

/**
 * The schema of a word of a vocabulary, with the meaning of each.
 *
 * @param description - empty for a type within one that can be null, which has the description itself
 */
export function wordSchema<Word extends string>(
  vocabulary: Vocabulary<Word>,
  description: string = vocabulary.description,
) {
  const text = description === '' ? undefined : meaningsOf(vocabulary, description)
  return vocabulary.isOpen
    ? Type.Unsafe<Word>(schemas.openOneOf(vocabulary.words, text))
    : schemas.oneOf(vocabulary.words, text)
}
