import type { FieldRef, InterfaceRef, ObjectRef } from '@pothos/core'
import type { JsonObject } from '#core/base/values/json.ts'
import { stateOf } from '#resources/define-resource.ts'
import type { Field, Fields, Resource } from '#resources/resource.ts'
import { builder } from '../builder.ts'
import { storedWord, vocabularyEnum } from '../enum-of.ts'
import { relatedQuery } from '../reads/related-query.ts'
import { Agent } from '../types/agent.ts'
import { ApiKey } from '../types/api-key.ts'
import { Node } from '../types/node.ts'
import { User } from '../types/user.ts'

type Types = typeof builder.$inferSchemaTypes
type FieldBuilder<Row> = PothosSchemaTypes.ObjectFieldBuilder<Types, Row>
type FieldRefs = Record<string, FieldRef<Types>>

/**
 * The type of a resource: its fields, and beside each id the object to which it leads.
 *
 * @param more - fields that only GraphQL has
 * @param options - whether `node` finds it by its id
 */
export function resourceType<Row extends object>(
  { name, description, fields }: Resource<Row, Fields>,
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
    fields: (t) => ({
      ...more?.(t),
      ...resourceFields(t, { name, fields }),
    }),
  })
  types.set(name, type)
  return type
}

/** The fields of a resource, also for an interface. */
export function resourceFields<Row extends object>(
  t: FieldBuilder<Row> | PothosSchemaTypes.InterfaceFieldBuilder<Types, Row>,
  { name, fields }: Pick<Resource<Row, Fields>, 'name' | 'fields'>,
): FieldRefs {
  const each = Object.entries(fields).map(([field, spec]) =>
    fieldsOf(t as FieldBuilder<Row>, name, field, spec),
  )
  return Object.assign({}, ...each)
}

/** A resource may be part of several others. */
const types = new Map<string, unknown>()

function fieldsOf<Row extends object>(
  t: FieldBuilder<Row>,
  typeName: string,
  name: string,
  field: Field,
): FieldRefs {
  // The compiler then lets a resolver return null; the schema says whether it may.
  const { description, isNullable } = field
  const options = { description, nullable: isNullable as true }
  const read = <Value>(row: Row) => row[name as keyof Row] as Value | null
  switch (field.kind) {
    case 'text':
      return { [name]: t.string({ ...options, resolve: read<string> }) }
    case 'localId':
      return { [localIdName(typeName)]: t.string({ ...options, resolve: read<string> }) }
    case 'number':
      return { [name]: t.float({ ...options, resolve: read<number> }) }
    case 'integer':
      return { [name]: t.int({ ...options, resolve: read<number> }) }
    case 'large':
      return { [name]: t.field({ ...options, type: 'SafeInt', resolve: read<number> }) }
    case 'time':
      return { [name]: t.field({ ...options, type: 'DateTime', resolve: (row) => dateOf(read(row)) }) }
    case 'flag':
      return { [name]: t.boolean({ ...options, resolve: read<boolean> }) }
    case 'json':
      return { [name]: t.field({ ...options, type: 'JSONObject', resolve: (row) => jsonOf(read(row)) }) }
    case 'texts':
      return { [name]: t.stringList({ ...options, resolve: read<string[]> }) }
    case 'words':
      return { [name]: wordField(t, field, read) }
    case 'object':
      return { [name]: t.field({ ...options, type: nestedType(field), resolve: read<object> }) }
    case 'objects':
      return { [name]: t.field({ ...options, type: [nestedType(field)], resolve: read<object[]> }) }
    case 'name':
      return { [`${name}Id`]: t.string({ ...options, resolve: read<string> }) }
    case 'agent':
      return {
        [`${name}Id`]: t.string({ ...options, resolve: read<string> }),
        [name]: t.field({
          type: Agent,
          nullable: true,
          description: field.object ?? '',
          resolve: (row, _args, { loaders }) => loaders.agent(read<string>(row) ?? ''),
        }),
      }
    default:
      return { [name]: t.id({ ...options, resolve: read<string> }), ...objectOf(t, name, field, read) }
  }
}

/** `deploymentId` of an `AgentDeployment`. */
function localIdName(typeName: string): string {
  const word = typeName.replace(/^.*(?=[A-Z])/, '')
  return `${word.toLowerCase()}Id`
}

type Read<Row> = <Value>(row: Row) => Value | null

/** The object to which the id of a key or a user leads, if the caller may see it. */
function objectOf<Row>(
  t: FieldBuilder<Row>,
  idName: string,
  { kind, object }: Field,
  read: Read<Row>,
): FieldRefs {
  const options = { nullable: true, description: object ?? '' } as const
  const name = idName.replace(/Id$/, '')
  if (kind === 'key') {
    return {
      [name]: t.field({
        ...options,
        type: ApiKey,
        resolve(row, _args, context, info) {
          const id = read<string>(row)
          return id === null ? null : context.loaders.key(id, relatedQuery(context, info))
        },
      }),
    }
  }
  if (kind !== 'user') return {}
  return {
    [name]: t.field({
      ...options,
      type: User,
      resolve(row, _args, context, info) {
        const id = read<string>(row)
        return id === null ? null : context.loaders.user(id, relatedQuery(context, info))
      },
    }),
  }
}

function wordField<Row>(
  t: FieldBuilder<Row>,
  { vocabulary, description, isNullable }: Field,
  read: Read<Row>,
) {
  if (vocabulary === undefined) throw new Error('a field of words has no vocabulary')
  return t.field({
    type: vocabularyEnum(vocabulary),
    description,
    nullable: isNullable as true,
    resolve(row) {
      const word = read<string>(row)
      return vocabulary.isOpen ? storedWord(vocabulary, word) : word
    },
  })
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
