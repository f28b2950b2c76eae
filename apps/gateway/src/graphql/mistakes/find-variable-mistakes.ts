import {
  type DocumentNode,
  type GraphQLSchema,
  isInputType,
  type OperationDefinitionNode,
  typeFromAST,
} from 'graphql'
import { MISTAKES_MAX } from '#core/errors/errors.ts'
import { checkValue, type InputMistake } from './input-mistakes.ts'
import { variablePlaces } from './variable-places.ts'

/** What an operation is called with. */
export interface CalledOperation {
  readonly schema: GraphQLSchema
  readonly document: DocumentNode
  readonly operation: OperationDefinitionNode
  readonly variables: Readonly<Record<string, unknown>>
}

/** Finds what is wrong with the variables of a valid operation, in the order in which it defines them. */
export function findVariableMistakes({
  schema,
  document,
  operation,
  variables,
}: CalledOperation): readonly InputMistake[] {
  const definitions = operation.variableDefinitions ?? []
  if (definitions.length === 0) return []
  const mistakes: InputMistake[] = []
  const take = (mistake: InputMistake) => mistakes.push(mistake) < MISTAKES_MAX
  const places = variablePlaces(document, operation)
  for (const { variable, type: typeNode, defaultValue } of definitions) {
    const name = variable.name.value
    const type = typeFromAST(schema, typeNode)
    const given = Object.hasOwn(variables, name) ? variables[name] : undefined
    if (!isInputType(type) || (given === undefined && defaultValue !== undefined)) continue
    if (!checkValue(given, type, places.get(name) ?? [], take)) break
  }
  return mistakes
}
