import {
  type ASTNode,
  type ASTVisitor,
  type DirectiveNode,
  type DocumentNode,
  type FieldNode,
  type GraphQLArgument,
  type GraphQLError,
  type GraphQLSchema,
  KnownArgumentNamesRule,
  NoSchemaIntrospectionCustomRule,
  ProvidedRequiredArgumentsRule,
  specifiedRules,
  type ValidationContext,
  type ValidationRule,
  ValuesOfCorrectTypeRule,
  type VariableDefinitionNode,
  validate,
} from 'graphql'
import { MISTAKES_MAX, type Mistake, Problem, type ProblemOptions } from '#core/base/errors/errors.ts'
import { callerName } from '#core/requests/input/caller-name.ts'
import { graphqlErrorOf, problemBehind } from '../errors.ts'
import { Literal, literalsOf, mistakesOfFields } from './input-mistakes.ts'
import { variableMistakes } from './variable-mistakes.ts'

/** The rules of graphql-js that speak of inputs, and so of values. {@link inputsRule} stands in for them. */
const OF_INPUTS: ReadonlySet<ValidationRule> = new Set<ValidationRule>([
  KnownArgumentNamesRule,
  ProvidedRequiredArgumentsRule,
  ValuesOfCorrectTypeRule,
])

/** Says why a document does not fit the schema, by names of the document and places in it; empty if it fits. */
export type ValidateDocument = ReturnType<typeof createValidation>

/** @param showsSchema - whether clients may ask for the schema; messages then guess which name was meant */
export function createValidation(schema: GraphQLSchema, showsSchema: boolean) {
  const rules = [inputsRule, ...specifiedRules.filter((rule) => !OF_INPUTS.has(rule))]
  if (!showsSchema) rules.push(NoSchemaIntrospectionCustomRule)
  const options = { maxErrors: MISTAKES_MAX, hideSuggestions: !showsSchema }
  // What is wrong with a document is found anew each time, so that no two requests share an error.
  const valid = new WeakSet<DocumentNode>()
  return (document: DocumentNode): readonly GraphQLError[] => {
    if (valid.has(document)) return []
    const found = validate(schema, document, rules, options)
    if (found.length === 0) valid.add(document)
    // What comes beyond says that there would be more.
    return found.slice(0, MISTAKES_MAX).map(inOurForm)
  }
}

/** The rules of graphql-js that are left speak of names and types alone. Names of the caller may be long, and many. */
function inOurForm(error: GraphQLError): GraphQLError {
  if (problemBehind(error) !== undefined) return error
  // Where too many selections would have to be compared, graphql-js gives up, and says so without a place.
  if (error.nodes === undefined)
    return graphqlErrorOf(new Problem('operation_too_large', { detail: TOO_LARGE }))
  const message = error.message.replace(/\w{65,}/g, (name) => callerName(name))
  return invalid({ detail: message.slice(0, MESSAGE_CHARACTERS_MAX) }, error.nodes[0])
}

const TOO_LARGE = 'operation: selects the same names too often.'
const MESSAGE_CHARACTERS_MAX = 500

function invalid(problem: ProblemOptions, nodes: ASTNode | undefined): GraphQLError {
  return graphqlErrorOf(new Problem('document_invalid', problem), { at: { nodes } })
}

/** Checks every input that a document has in itself: the arguments of fields and directives, and the defaults of variables. */
function inputsRule(context: ValidationContext): ASTVisitor {
  const report = ({ field, text }: Mistake, node: ASTNode): void =>
    context.reportError(invalid({ field, detail: text }, node))
  const checkArguments = (known: readonly GraphQLArgument[], node: FieldNode | DirectiveNode): void => {
    for (const mistake of mistakesOfFields(literalsOf(node.arguments), known, [], 'argument')) {
      report(mistake, node.arguments?.find(({ name }) => name.value === mistake.field[0]) ?? node)
    }
  }
  return {
    Field(node) {
      const field = context.getFieldDef()
      if (field) checkArguments(field.args, node)
    },
    Directive(node) {
      const directive = context.getDirective()
      if (directive) checkArguments(directive.args, node)
    },
    OperationDefinition(operation) {
      const called = { schema: context.getSchema(), document: context.getDocument(), operation }
      const defaultOf = ({ variable, defaultValue }: VariableDefinitionNode) =>
        new Literal(defaultValue ?? variable)
      for (const mistake of variableMistakes(called, defaultOf)) report(mistake, operation)
    },
  }
}
