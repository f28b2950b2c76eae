import {
  type ASTNode,
  DeferStreamDirectiveLabelRule,
  DeferStreamDirectiveOnRootFieldRule,
  DeferStreamDirectiveOnValidOperationsRule,
  ExecutableDefinitionsRule,
  FieldsOnCorrectTypeRule,
  FragmentsOnCompositeTypesRule,
  Kind,
  KnownDirectivesRule,
  KnownFragmentNamesRule,
  KnownOperationTypesRule,
  KnownTypeNamesRule,
  LoneAnonymousOperationRule,
  MaxIntrospectionDepthRule,
  NoFragmentCyclesRule,
  NoSchemaIntrospectionCustomRule,
  NoUndefinedVariablesRule,
  NoUnusedFragmentsRule,
  NoUnusedVariablesRule,
  OverlappingFieldsCanBeMergedRule,
  PossibleFragmentSpreadsRule,
  ScalarLeafsRule,
  SingleFieldSubscriptionsRule,
  StreamDirectiveOnListFieldRule,
  UniqueArgumentNamesRule,
  UniqueDirectivesPerLocationRule,
  UniqueFragmentNamesRule,
  UniqueInputFieldNamesRule,
  UniqueOperationNamesRule,
  UniqueVariableNamesRule,
  type ValidationRule,
  VariablesAreInputTypesRule,
  VariablesInAllowedPositionRule,
} from 'graphql'
import { callerName } from '#core/requests/input/caller-name.ts'

/** Says what a rule found at a node, by the name of the node and the name that its result would have. */
type Words = (name: string, responseName: string) => string

/**
 * The rules of graphql-js that a document must pass beside {@link inputsRule}, each with words of our own: those of the library
 * repeat what the caller sent, and change with its versions.
 */
export const RULE_WORDS: ReadonlyMap<ValidationRule, Words> = new Map<ValidationRule, Words>([
  [ExecutableDefinitionsRule, () => 'The document may contain operations and fragments only.'],
  [KnownOperationTypesRule, () => 'The schema has no operations of this kind.'],
  [UniqueOperationNamesRule, (name) => `The document has several operations ${name}.`],
  [LoneAnonymousOperationRule, () => 'An operation without a name must be the only one of the document.'],
  [SingleFieldSubscriptionsRule, () => 'A subscription must select exactly one field, without conditions.'],
  [KnownTypeNamesRule, (name) => `${name} is not a type of the schema.`],
  [FragmentsOnCompositeTypesRule, (name) => `${name} has no fields, so no fragment can be on it.`],
  [VariablesAreInputTypesRule, (name) => `${name} is not a type of inputs, so no variable can have it.`],
  [ScalarLeafsRule, (name) => `${name} must select fields of its type if, and only if, the type has fields.`],
  [FieldsOnCorrectTypeRule, (name) => `${name} is not a known field.`],
  [UniqueFragmentNamesRule, (name) => `The document has several fragments ${name}.`],
  [KnownFragmentNamesRule, (name) => `${name} is not a fragment of the document.`],
  [NoUnusedFragmentsRule, (name) => `The fragment ${name} is not used.`],
  [PossibleFragmentSpreadsRule, () => 'A fragment on this type can never apply here.'],
  [NoFragmentCyclesRule, (name) => `The fragment ${name} contains itself.`],
  [UniqueVariableNamesRule, (name) => `The operation has several variables ${name}.`],
  [NoUndefinedVariablesRule, (name) => `${name} is not a variable of the operation.`],
  [NoUnusedVariablesRule, (name) => `The variable ${name} is not used.`],
  [KnownDirectivesRule, (name) => `${name} is not a directive that is known here.`],
  [UniqueDirectivesPerLocationRule, (name) => `The directive ${name} may be here only once.`],
  [DeferStreamDirectiveOnRootFieldRule, (name) => `The directive ${name} is not allowed here.`],
  [DeferStreamDirectiveOnValidOperationsRule, (name) => `The directive ${name} is not allowed here.`],
  [DeferStreamDirectiveLabelRule, (name) => `The label of the directive ${name} must be a text of its own.`],
  [StreamDirectiveOnListFieldRule, (name) => `The directive ${name} is not allowed here.`],
  [UniqueArgumentNamesRule, (name) => `The argument ${name} may be given only once.`],
  [
    VariablesInAllowedPositionRule,
    (name) => `The type of the variable ${name} does not fit where it is used.`,
  ],
  [
    OverlappingFieldsCanBeMergedRule,
    (_name, responseName) => `${responseName} stands for different selections; use different aliases.`,
  ],
  [UniqueInputFieldNamesRule, (name) => `The input field ${name} may be given only once.`],
  [MaxIntrospectionDepthRule, () => 'The schema is asked for too deeply.'],
  [
    NoSchemaIntrospectionCustomRule,
    (name) => `${name} is not answered: this gateway does not show its schema.`,
  ],
])

/** What a node is called, as far as it is shown; undefined if it has no name. */
export function nameOf(node: ASTNode | undefined): string | undefined {
  switch (node?.kind) {
    case Kind.NAME:
      return callerName(node.value)
    case Kind.VARIABLE_DEFINITION:
      return nameOf(node.variable)
    case Kind.LIST_TYPE:
    case Kind.NON_NULL_TYPE:
      return nameOf(node.type)
    case Kind.FIELD:
    case Kind.OPERATION_DEFINITION:
    case Kind.FRAGMENT_DEFINITION:
    case Kind.FRAGMENT_SPREAD:
    case Kind.DIRECTIVE:
    case Kind.ARGUMENT:
    case Kind.OBJECT_FIELD:
    case Kind.NAMED_TYPE:
    case Kind.VARIABLE:
      return nameOf(node.name)
    default:
      return undefined
  }
}

/** The name that the result of a field has. */
export function responseNameOf(node: ASTNode | undefined): string | undefined {
  return node?.kind === Kind.FIELD ? nameOf(node.alias ?? node.name) : nameOf(node)
}
