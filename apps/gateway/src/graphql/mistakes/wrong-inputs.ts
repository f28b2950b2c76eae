import {
  type GraphQLArgument,
  type GraphQLError,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
} from 'graphql'
import { MISTAKES_MAX, type Mistake, Problem } from '#core/errors/errors.ts'
import { byRank } from '#core/requests/input/by-rank.ts'
import { type GraphqlContext, readCredential } from '../context.ts'
import { graphqlErrorOf, problemBehind } from '../errors.ts'
import { type CalledOperation, findVariableMistakes } from './find-variable-mistakes.ts'
import { placeMistakes } from './input-places.ts'
import { rankOfInput } from './input-rank.ts'
import { JUDGES } from './judges.ts'
import { placeAmongGaps, type SoundInputs, soundArguments, withoutGaps } from './sound-inputs.ts'

/**
 * One error for all that is wrong with the inputs of an operation, in the order of the schema: literals and variables of the
 * wrong type, and, only where there are such, the rules for all others. Undefined if every type is right; the rules are then
 * applied by the services.
 */
export async function wrongInputs(
  called: CalledOperation,
  literals: readonly GraphQLError[],
  context: GraphqlContext,
): Promise<GraphQLError | undefined> {
  const inDocument = literals.flatMap((error) => problemBehind(error)?.mistakes ?? [])
  const shape: Mistake[] = [...inDocument, ...findVariableMistakes(called)]
  if (shape.length === 0) return undefined
  const judged = shape.length < MISTAKES_MAX ? await judgedMistakes(called, context) : []
  const others = judged.filter(({ field }) => !shape.some((known) => isWithin(field, known.field)))
  const all = byRank([...shape, ...others], ({ field }) =>
    rankOfInput(field, argumentsWith(called, field[0])),
  )
  const [first, ...rest] = all
  if (first === undefined) return undefined
  const reason = all.length === inDocument.length ? 'document_invalid' : 'invalid_request'
  const problem = new Problem(reason, { field: first.field, detail: first.text }).with([
    { reason, mistakes: rest },
  ])
  return graphqlErrorOf(problem, { at: { nodes: literals.flatMap(({ nodes }) => nodes ?? []) } })
}

function isWithin(field: Mistake['field'], other: Mistake['field']): boolean {
  return other.every((name, index) => field[index] === name)
}

/** The arguments of the first field of the root type that has one of this name. */
function argumentsWith({ schema, operation }: CalledOperation, name: unknown): readonly GraphQLArgument[] {
  const argumentLists = rootFields(schema, operation).map(({ known }) => known)
  return argumentLists.find((known) => known.some((argument) => argument.name === name)) ?? []
}

/** The fields that an operation selects of its root type. Forms are not sent in fragments, so those are left out. */
function rootFields(schema: GraphQLSchema, { operation, selectionSet }: OperationDefinitionNode) {
  const fields = schema.getRootType(operation)?.getFields() ?? {}
  return selectionSet.selections.flatMap((node) => {
    const known = node.kind === Kind.FIELD ? fields[node.name.value]?.args : undefined
    return node.kind === Kind.FIELD && known !== undefined ? [{ node, name: node.name.value, known }] : []
  })
}

async function judgedMistakes(
  { schema, operation, variables }: CalledOperation,
  context: GraphqlContext,
): Promise<readonly Mistake[]> {
  const mistakes: Mistake[] = []
  for (const { node, name, known } of rootFields(schema, operation)) {
    if (!JUDGES.has(name)) continue
    const args = soundArguments(node, known, variables)
    const refusal = await refusalOf(name, withoutGaps(args), context)
    for (const { field, text } of placeMistakes(refusal?.mistakes ?? [], known, args)) {
      mistakes.push({ field: placeAmongGaps(field, args), text })
    }
    if (mistakes.length >= MISTAKES_MAX) break
  }
  return mistakes
}

async function refusalOf(
  name: string,
  args: SoundInputs,
  context: GraphqlContext,
): Promise<Problem | undefined> {
  const judge = JUDGES.get(name)
  if (judge?.needsCaller) await readCredential(context.services, context)
  return judgedInputs(name, args, context)
}

/** What the rules of a field of a root type refuse in its arguments. */
export function judgedInputs(name: string, args: SoundInputs, context: GraphqlContext): Problem | undefined {
  try {
    JUDGES.get(name)?.judge(flattened(args), context, context.credential.caller)
    return undefined
  } catch (refusal) {
    if (refusal instanceof Problem) return refusal
    throw refusal
  }
}

/** The fields of input objects beside the arguments. Core calls the id of an agent `agent`. */
function flattened(args: SoundInputs): SoundInputs {
  const { input, filter, ...others } = args
  const fields = { ...others, ...(filter as SoundInputs | undefined), ...(input as SoundInputs | undefined) }
  return 'agentId' in fields ? { ...fields, agent: fields.agentId } : fields
}
