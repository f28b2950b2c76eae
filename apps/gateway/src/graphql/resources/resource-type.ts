import type { InterfaceRef, ObjectRef } from '@pothos/core'
import type { JsonObject } from '#core/base/values/json.ts'
import { fieldValue, stateOf } from '#resources/define/define-resource.ts'
import { columnsOf, type Field, type Fields, type Resource, type View } from '#resources/define/resource.ts'
import { builder } from '../builder.ts'
import type { GraphqlContext } from '../context.ts'
import { storedWord, vocabularyEnum } from '../enum-of.ts'
import type { FieldBuilder, FieldRefs, FieldSource, Types } from './field-source.ts'
import { linkedObject } from './linked-object.ts'
import { Node } from './node.ts'
import { viewOf } from './view-of.ts'

/**
 * The type of a resource whose rows core gives as a whole.
 *
 * @param more - fields that only GraphQL has
 * @param options - whether `node` finds it by its id
 */
export function resourceType<Row extends object>(
  { name, description, fields }: Resource<Row, Fields, View>,
  more?: (t: FieldBuilder<Row>) => FieldRefs,
  { isNode = false } = {},
): ObjectRef<Types, Row> {
  const known = types.get(name)
  if (known !== undefined) {
    if (more !== undefined) throw new Error(`${name} is made already, without these fields`)
    return known as ObjectRef<Types, Row>
  }
  const type = builder.objectRef<Row>(name).implement({
    description,
    // A row with an id is a node, which the compiler cannot see of any row.
    interfaces: isNode ? [Node as unknown as InterfaceRef<Types, Row>] : [],
    fields: (t) => ({ ...more?.(t), ...resourceFields(t, { name, fields }) }),
  })
  types.set(name, type)
  return type
}

/** A resource may be part of several others. */
const types = new Map<string, unknown>()

/** The fields of a type, and beside each id the object to which it leads. */
export function resourceFields<Row extends object>(
  t: FieldBuilder<Row>,
  { name: typeName, fields }: { readonly name: string; readonly fields: Fields },
  model?: string,
): FieldRefs {
  const each = Object.entries(fields).map(([name, field]) => {
    const columns = columnsOf([name, field])
    const select = Object.fromEntries(columns.map((column) => [column, true] as const))
    return fieldsOf(t, field.kind === 'localId' ? localIdName(typeName) : name, field, {
      model,
      columns,
      reading: model === undefined ? {} : { select },
      read: <Value>(row: Row, context: GraphqlContext) =>
        fieldValue(name, field, row, field.compute && viewOf(context)) as Value | null,
    })
  })
  return Object.assign({}, ...each)
}

function fieldsOf<Row extends object>(
  t: FieldBuilder<Row>,
  name: string,
  field: Field,
  source: FieldSource<Row>,
): FieldRefs {
  // The compiler then lets a resolver return null; the schema says whether it may.
  const { description, isNullable } = field
  const options = { description, nullable: isNullable as true, ...source.reading }
  const read =
    <Value>() =>
    (row: Row, _args: object, context: GraphqlContext) =>
      source.read<Value>(row, context)
  switch (field.kind) {
    case 'text':
    case 'localId':
      return { [name]: t.string({ ...options, resolve: read<string>() }) }
    case 'number':
      return { [name]: t.float({ ...options, resolve: read<number>() }) }
    case 'integer':
      return { [name]: t.int({ ...options, resolve: read<number>() }) }
    case 'large':
      return { [name]: t.field({ ...options, type: 'SafeInt', resolve: read<number>() }) }
    case 'time':
      return {
        [name]: t.field({
          ...options,
          type: 'DateTime',
          resolve: (row, _args, context) => dateOf(source.read(row, context)),
        }),
      }
    case 'flag':
      return { [name]: t.boolean({ ...options, resolve: read<boolean>() }) }
    case 'json':
      return {
        [name]: t.field({
          ...options,
          type: 'JSONObject',
          resolve: (row, _args, context) => jsonOf(source.read(row, context)),
        }),
      }
    case 'texts':
      return { [name]: t.stringList({ ...options, resolve: read<string[]>() }) }
    case 'words':
      return {
        [name]: t.field({
          ...options,
          type: wordsOf(field),
          resolve: (row, _args, context) => knownWord(field, source.read(row, context)),
        }),
      }
    case 'word list':
      return { [name]: t.field({ ...options, type: [wordsOf(field)], resolve: read<string[]>() }) }
    case 'object':
      return { [name]: t.field({ ...options, type: nestedType(field), resolve: read<object>() }) }
    case 'objects':
      return { [name]: t.field({ ...options, type: [nestedType(field)], resolve: read<object[]>() }) }
    case 'name':
    case 'agent':
      return {
        [`${name}Id`]: t.string({ ...options, resolve: read<string>() }),
        ...linkedObject(t, name, field, source),
      }
    default: {
      const object = name.replace(/Id$/, '')
      const isWordAlone = field.kind !== 'id' && object === name
      return {
        [isWordAlone ? `${name}Id` : name]: t.id({ ...options, resolve: read<string>() }),
        ...linkedObject(t, object, field, source),
      }
    }
  }
}

/** `deploymentId` of an `AgentDeployment`. */
function localIdName(typeName: string): string {
  return `${typeName.replace(/^.*(?=[A-Z])/, '').toLowerCase()}Id`
}

function wordsOf({ vocabulary }: Field) {
  if (vocabulary === undefined) throw new Error('a field of words has no vocabulary')
  return vocabularyEnum(vocabulary)
}

function knownWord({ vocabulary }: Field, word: string | null): string | null {
  return vocabulary?.isOpen ? storedWord(vocabulary, word) : word
}

function nestedType({ of }: Field): ObjectRef<Types, object> {
  if (of === undefined) throw new Error('a field of objects has no resource')
  return resourceType(of as Resource<object>)
}

function dateOf(at: Date | string | null): Date | null {
  return at === null ? null : new Date(at)
}

function jsonOf(text: string | null): JsonObject | null {
  return text === null ? null : stateOf(text)
}
