import {
  BREAK,
  type DocumentNode,
  type GraphQLSchema,
  isInputType,
  Kind,
  type OperationDefinitionNode,
  typeFromAST,
  type VariableDefinitionNode,
  visit,
} from 'graphql'
import { MISTAKES_MAX, type Mistake, Problem } from '#core/base/errors/errors.ts'
import type { FieldPath } from '#core/base/values/field-path.ts'
import { callerName } from '#core/requests/input/caller-name.ts'
import { inputMistakes, Literal } from './input-mistakes.ts'

/** An operation that is about to run. */
export interface Operation {
  readonly schema: GraphQLSchema
  readonly document: DocumentNode
  readonly operation: OperationDefinitionNode
  readonly variables: Readonly<Record<string, unknown>>
}

/**
 * Requires that the variables with which a valid operation is called have its types.
 *
 * @throws Problem `invalid_request`, with all mistakes
 */
export function requireVariables({ variables, ...operation }: Operation): void {
  const inputOf = ({ variable: { name }, defaultValue }: VariableDefinitionNode) => {
    if (Object.hasOwn(variables, name.value)) return variables[name.value]
    return defaultValue && new Literal(defaultValue)
  }
  const [first, ...others] = variableMistakes(operation, inputOf).take(MISTAKES_MAX)
  if (first === undefined) return
  throw new Problem('invalid_request', { field: first.field, detail: first.text, others })
}

/**
 * Finds what is wrong with what the variables of an operation are given. Each is named by its first use, such as `['input',
 * 'password']`: callers know their inputs by these names, which are those of the schema; the names of variables are their own.
 */
export function* variableMistakes(
  { schema, document, operation }: Omit<Operation, 'variables'>,
  inputOf: (definition: VariableDefinitionNode) => unknown,
): Generator<Mistake, void> {
  for (const definition of operation.variableDefinitions ?? []) {
    const type = typeFromAST(schema, definition.type)
    if (!isInputType(type)) continue
    let place: FieldPath | undefined
    for (const { field, text } of inputMistakes(inputOf(definition), type, [])) {
      place ??= placeOf(definition.variable.name.value, operation, document)
      yield { field: [...place, ...field], text }
    }
  }
}

function placeOf(
  variable: string,
  operation: OperationDefinitionNode,
  { definitions }: DocumentNode,
): FieldPath {
  let place: FieldPath = []
  const fragments = definitions.filter(({ kind }) => kind === Kind.FRAGMENT_DEFINITION)
  const used: DocumentNode = { kind: Kind.DOCUMENT, definitions: [operation, ...fragments] }
  visit(used, {
    VariableDefinition: () => false,
    Variable({ name }, _key, parent, path, ancestors) {
      if (name.value !== variable) return undefined
      place = [...ancestors, parent].flatMap((around, depth) => {
        if (around === undefined || !('kind' in around)) return []
        if (around.kind === Kind.LIST) return path[depth + 1] ?? []
        const isNamed = around.kind === Kind.ARGUMENT || around.kind === Kind.OBJECT_FIELD
        return isNamed ? callerName(around.name.value) : []
      })
      return BREAK
    },
  })
  return place
}
