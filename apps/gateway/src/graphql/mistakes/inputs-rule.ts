import {
  type ArgumentNode,
  type ASTNode,
  type ASTVisitor,
  type GraphQLArgument,
  type GraphQLError,
  isInputType,
  isRequiredArgument,
  typeFromAST,
  type ValidationContext,
} from 'graphql'
import { MISTAKES_MAX } from '#core/errors/errors.ts'
import { callerName } from '#core/requests/input/caller-name.ts'
import { checkLiteral, type InputMistake, missing } from './input-mistakes.ts'
import { variablePlaces } from './variable-places.ts'

/** Reports a mistake in the inputs of a document, at a node of it. */
export type ReportInput = (mistake: InputMistake, node: ASTNode) => GraphQLError

/**
 * Checks every input that a document has in itself: the arguments of fields and directives, and the defaults of variables. It
 * stands in for three rules of graphql-js (known arguments, required arguments, values), which write values into their messages.
 *
 * @param suggests - whether messages may name arguments that exist
 */
export function inputsRule(toError: ReportInput, suggests: boolean) {
  return (context: ValidationContext): ASTVisitor => {
    let found = 0
    const report = (mistake: InputMistake, node: ASTNode): boolean => {
      context.reportError(toError(mistake, node))
      found += 1
      return found < MISTAKES_MAX
    }
    const checkArguments = (
      known: readonly GraphQLArgument[],
      node: ASTNode & { readonly arguments?: readonly ArgumentNode[] | undefined },
    ): void => {
      const given = new Map(node.arguments?.map((argument) => [argument.name.value, argument]))
      for (const argument of known) {
        const { name, type } = argument
        const literal = given.get(name)
        given.delete(name)
        if (literal !== undefined)
          checkLiteral(literal.value, type, [name], (mistake) => report(mistake, literal))
        else if (isRequiredArgument(argument)) report(missing(type, [name]), node)
      }
      const expected =
        suggests && known.length > 0 ? `; expected ${known.map(({ name }) => name).join(', ')}` : ''
      for (const [name, literal] of given) {
        report({ field: [callerName(name)], text: `is not a known argument${expected}.` }, literal)
      }
    }
    return {
      Field(node) {
        const definition = context.getFieldDef()
        if (definition != null) checkArguments(definition.args, node)
      },
      Directive(node) {
        const definition = context.getDirective()
        if (definition != null) checkArguments(definition.args, node)
      },
      OperationDefinition(operation) {
        for (const { variable, type: typeNode, defaultValue } of operation.variableDefinitions ?? []) {
          const type = typeFromAST(context.getSchema(), typeNode)
          if (defaultValue === undefined || !isInputType(type)) continue
          const place = variablePlaces(context.getDocument(), operation).get(variable.name.value) ?? []
          checkLiteral(defaultValue, type, place, (mistake) => report(mistake, defaultValue))
        }
      },
    }
  }
}
