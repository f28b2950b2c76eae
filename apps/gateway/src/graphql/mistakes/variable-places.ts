import {
  type ASTNode,
  type DocumentNode,
  Kind,
  type OperationDefinitionNode,
  type ValueNode,
  visit,
} from 'graphql'
import type { FieldPath } from '#core/base/values/field-path.ts'

/**
 * Where an operation uses each of its variables for the first time: the path from the argument on, such as `['input',
 * 'password']`. Callers know their inputs by these names, which are those of the schema; the names of variables are their own.
 */
export function variablePlaces(
  document: DocumentNode,
  operation: OperationDefinitionNode,
): ReadonlyMap<string, FieldPath> {
  const places = new Map<string, FieldPath>()
  const fragments = document.definitions.filter(({ kind }) => kind === Kind.FRAGMENT_DEFINITION)
  for (const definition of [operation, ...fragments]) addPlaces(definition, places)
  return places
}

function addPlaces(definition: ASTNode, places: Map<string, FieldPath>): void {
  visit(definition, {
    Argument({ name, value }) {
      for (const [variable, place] of variablesIn(value, [name.value])) {
        if (!places.has(variable)) places.set(variable, place)
      }
      return false
    },
  })
}

function variablesIn(node: ValueNode, field: FieldPath): [variable: string, place: FieldPath][] {
  switch (node.kind) {
    case Kind.VARIABLE:
      return [[node.name.value, field]]
    case Kind.LIST:
      return node.values.flatMap((item, index) => variablesIn(item, [...field, index]))
    case Kind.OBJECT:
      return node.fields.flatMap(({ name, value }) => variablesIn(value, [...field, name.value]))
    default:
      return []
  }
}
