import {
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLObjectType,
  getNamedType,
  isInterfaceType,
  isObjectType,
  Kind,
  OperationTypeNode,
  type SelectionNode,
  type SelectionSetNode,
  valueFromASTUntyped,
} from 'graphql'
import { fail } from '#core/base/errors/errors.ts'
import type { Operation } from '../mistakes/variable-mistakes.ts'
import { type Multiplied, multiply, readsList, type Variables } from './cost.ts'

/**
 * The most that one operation may request, whether or not its document is a trusted one. The size of documents is limited before
 * they are validated (`admission`). docs/graphql.md has the same numbers.
 */
export const OPERATION_LIMITS = {
  /** Levels of fields. A page of a connection takes three, such as `users { edges { node`. */
  depth: 15,
  /** Values that may have to be resolved: fields, each as often as the lists around it have items. */
  cost: 25_000,
  /** Lists and reports, each of which is a statement or more. One that many objects of a level have is read for all at once. */
  lists: 20,
} as const

export type OperationLimits = Readonly<Record<keyof typeof OPERATION_LIMITS, number>>

/**
 * Refuses an operation that asks for too much, before anything of it runs. The walk stops at the first limit, so that
 * fragments that repeat each other cost no more than any other operation.
 *
 * @throws Problem `operation_too_large`
 */
export function requireSmallOperation(
  operation: Operation,
  limits: OperationLimits = OPERATION_LIMITS,
): void {
  const root = operation.schema.getRootType(operation.operation.operation)
  if (root != null) new Walk(operation, limits).start(root)
}

class Walk {
  readonly #operation: Operation
  readonly #limits: OperationLimits
  readonly #fragments: ReadonlyMap<string, FragmentDefinitionNode>
  readonly #variables: Variables
  #cost = 0
  /** The fields that give the whole schema, of which one each is enough. */
  readonly #wholes = new Set<string>()
  /** The lists that were counted, by their depth. */
  #listsAt: Set<FieldNode>[] = []
  #lists = 0

  constructor(operation: Operation, limits: OperationLimits) {
    this.#operation = operation
    this.#limits = limits
    this.#fragments = new Map(
      operation.document.definitions.flatMap((definition) =>
        definition.kind === Kind.FRAGMENT_DEFINITION ? [[definition.name.value, definition] as const] : [],
      ),
    )
    this.#variables = withDefaults(operation)
  }

  start(root: GraphQLObjectType): void {
    const { selectionSet } = this.#operation.operation
    this.#walk(selectionSet, root.name, 1, { times: 1, pageItems: undefined })
  }

  #walk({ selections }: SelectionSetNode, typeName: string, depth: number, around: Multiplied): void {
    if (depth > this.#limits.depth) {
      this.#refuse(`expected at most ${this.#limits.depth} levels of fields.`, this.#limits.depth)
    }
    for (const selection of selections) this.#select(selection, typeName, depth, around)
  }

  #select(selection: SelectionNode, typeName: string, depth: number, around: Multiplied): void {
    if (selection.kind !== Kind.FIELD) {
      const fragment =
        selection.kind === Kind.INLINE_FRAGMENT ? selection : this.#fragments.get(selection.name.value)
      if (fragment === undefined) return
      const name = fragment.typeCondition?.name.value ?? typeName
      this.#walk(fragment.selectionSet, name, depth, around)
      return
    }
    this.#cost += around.times
    if (this.#cost > this.#limits.cost) {
      this.#refuse(
        `could return more than ${this.#limits.cost} values; ask for smaller pages (first, last) or fewer fields.`,
        this.#limits.cost,
      )
    }
    // The mutations of an operation run one after the other, so that none reads together with another.
    if (depth === 1 && this.#operation.operation.operation === OperationTypeNode.MUTATION) this.#listsAt = []
    const name = selection.name.value
    if (name === '__schema' || (typeName === SCHEMA_TYPE && name === 'types')) {
      if (this.#wholes.has(name)) this.#refuse(`expected ${name} of the schema at most once.`, 1)
      this.#wholes.add(name)
    }
    if (selection.selectionSet === undefined) return
    const field = this.#fieldOf(typeName, name)
    // graphql-js bounds how deep a selection of the schema itself may be; it costs no statement.
    if (field === undefined) {
      this.#walk(selection.selectionSet, name === '__schema' ? SCHEMA_TYPE : '', depth, around)
    } else {
      if (readsList(field)) this.#addList(selection, depth)
      const below = multiply(around, selection, field, this.#variables)
      this.#walk(selection.selectionSet, getNamedType(field.type).name, depth + 1, below)
    }
  }

  /** A list that a fragment brings to several objects of one level is read for all of them at once, and so counts once. */
  #addList(node: FieldNode, depth: number): void {
    const known = this.#listsAt[depth] ?? new Set<FieldNode>()
    this.#listsAt[depth] = known
    if (known.has(node)) return
    known.add(node)
    this.#lists += 1
    if (this.#lists > this.#limits.lists) {
      this.#refuse(`expected at most ${this.#limits.lists} lists and reports.`, this.#limits.lists)
    }
  }

  /** Undefined for what is not of this schema: introspection, or a document that validation has refused. */
  #fieldOf(typeName: string, name: string): GraphQLField<unknown, unknown> | undefined {
    const type = this.#operation.schema.getType(typeName)
    if (typeName.startsWith('__')) return undefined
    return isObjectType(type) || isInterfaceType(type) ? type.getFields()[name] : undefined
  }

  /** The walk ends at the first value beyond a limit, so what the whole operation asks for is not known. */
  #refuse(detail: string, allowed: number): never {
    const cost = { requested: `more than ${allowed}`, allowed } as const
    fail('operation_too_large', { detail: `operation: ${detail}`, cost })
  }
}

const SCHEMA_TYPE = '__Schema'

function withDefaults({ operation, variables }: Operation): Variables {
  const values: Record<string, unknown> = {}
  for (const { variable, defaultValue } of operation.variableDefinitions ?? []) {
    if (defaultValue !== undefined) values[variable.name.value] = valueFromASTUntyped(defaultValue)
  }
  return { ...values, ...variables }
}
