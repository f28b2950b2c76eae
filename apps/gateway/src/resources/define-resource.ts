import Type, { type TProperties, type TSchema } from 'typebox'
import { isObject, type JsonObject, parseJson } from '#core/base/values/json.ts'
import * as schemas from '#http/response/schemas.ts'
import { type Field, type Fields, type RecordOf, type Resource, snake } from './resource.ts'
import { meaningsOf, type Vocabulary } from './vocabulary.ts'

/** Each field is one of the row. */
type FieldsOf<Row, Of> = { readonly [Name in keyof Of]: Name extends keyof Row ? Field : never }

/**
 * Defines a resource, from which REST, `openapi.json`, CSV, GraphQL and the command line are made.
 *
 * @param example - its record, if it is a component of `openapi.json`; an object within another resource has none
 */
export function defineResource<Row extends object>() {
  return <const Of extends Fields & FieldsOf<Row, Of>>(
    name: string,
    description: string,
    fields: Of,
    example?: NoInfer<RecordOf<Of>>,
  ): Resource<Row, Of> => {
    const parts = Object.entries(fields).map(([field, spec]) => ({ field, column: snake(field), spec }))
    const properties = parts.map(({ column, spec }) => [column, schemaOf(spec)])
    return {
      name,
      description,
      fields,
      schema: Type.Object(Object.fromEntries(properties) as TProperties, {
        ...(example !== undefined && { $id: name, examples: [example] }),
        description,
      }),
      columns: parts.map(({ column }) => column),
      record(row) {
        const record: Record<string, unknown> = {}
        for (const { field, column, spec } of parts) record[column] = written(spec, row[field as keyof Row])
        return record as RecordOf<Of>
      },
    }
  }
}

function written({ kind, of }: Field, value: unknown): unknown {
  if (value === null) return null
  switch (kind) {
    case 'time':
      return value instanceof Date ? value.toISOString() : value
    case 'json':
      return stateOf(value as string)
    case 'object':
      return of?.record(value as never)
    case 'objects':
      return (value as never[]).map((each) => of?.record(each))
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
  return isNullable ? schemas.nullable(plain(field, ''), description) : plain(field, description)
}

/** @param description - empty for a type within one that can be null, which has the description itself */
function plain({ kind, known, vocabulary, minimum, of }: Field, description: string): TSchema {
  const described = description === '' ? {} : { description }
  switch (kind) {
    case 'id':
    case 'key':
    case 'user':
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
      return vocabulary === undefined ? Type.Never() : wordSchema(vocabulary, description)
    case 'object':
      return objectSchema(of)
    case 'objects':
      return Type.Array(objectSchema(of), described)
    default:
      return known === undefined ? Type.String(described) : schemas.openOneOf(known, description || undefined)
  }
}

function objectSchema(of: Field['of']): TSchema {
  if (of === undefined) return Type.Null()
  return of.schema.$id === undefined ? of.schema : schemas.ref(of.schema)
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
