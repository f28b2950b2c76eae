import {
  type ASTNode,
  type DocumentNode,
  FieldsOnCorrectTypeRule,
  type GraphQLError,
  type GraphQLSchema,
  isInterfaceType,
  isObjectType,
  NoSchemaIntrospectionCustomRule,
  type ValidationContext,
  type ValidationRule,
  validate,
} from 'graphql'
import { MISTAKES_MAX, Problem } from '#core/errors/errors.ts'
import { graphqlErrorOf } from '../errors.ts'
import { inputsRule } from './inputs-rule.ts'
import { nameOf, RULE_WORDS, responseNameOf } from './rule-words.ts'

/** Checks whether a document fits the schema. The errors contain names of the document and places in it, and no values. */
export type ValidateDocument = (schema: GraphQLSchema, document: DocumentNode) => readonly GraphQLError[]

/** @param shows - whether clients may ask for the schema; messages then name what exists */
export function createValidation(shows: boolean): ValidateDocument {
  const rules: ValidationRule[] = [
    inputsRule(
      ({ field, text }, node) => at(node, new Problem('document_invalid', { field, detail: text })),
      shows,
    ),
  ]
  for (const [rule, words] of RULE_WORDS) {
    if (rule === NoSchemaIntrospectionCustomRule && shows) continue
    const more = rule === FieldsOnCorrectTypeRule && shows ? knownFields : () => ''
    rules.push(inOwnWords(rule, (names, context) => words(...names) + more(context)))
  }
  return (schema, document) => {
    const found = validate(schema, document, rules, { maxErrors: MISTAKES_MAX, hideSuggestions: true })
    // Beside the errors of the rules, the validator adds one of its own where it gave up.
    const ours = found.filter(({ extensions }) => extensions.code === 'document_invalid')
    return found.length > 0 && ours.length === 0 ? [graphqlErrorOf(TOO_LARGE())] : ours
  }
}

/** graphql-js gives up where too many selections or fragments would have to be compared with each other. */
const TOO_LARGE = () =>
  new Problem('operation_too_large', { detail: 'operation: selects the same names too often.' })

type Describe = (names: [name: string, responseName: string], context: ValidationContext) => string

/** The same rule, of whose errors only the place in the document is kept. */
function inOwnWords(rule: ValidationRule, describe: Describe): ValidationRule {
  return (context) => {
    const reportError = ({ nodes }: GraphQLError) => {
      const node = nodes?.[0]
      const name = nameOf(node) ?? context.getFieldDef()?.name
      const quoted = (text: string | undefined) => (text === undefined ? 'This' : `"${text}"`)
      const detail = describe([quoted(name), quoted(responseNameOf(node) ?? name)], context)
      context.reportError(at(node, new Problem('document_invalid', { detail })))
    }
    const worded: ValidationContext = Object.create(context, { reportError: { value: reportError } })
    return rule(worded)
  }
}

function at(node: ASTNode | undefined, problem: Problem): GraphQLError {
  return graphqlErrorOf(problem, { at: { nodes: node } })
}

function knownFields(context: ValidationContext): string {
  const type = context.getParentType()
  if (!isObjectType(type) && !isInterfaceType(type)) return ''
  return ` ${type.name} has ${Object.keys(type.getFields()).join(', ')}.`
}
