import { type GraphQLArgument, getNamedType, isInputObjectType } from 'graphql'
import { Problem } from '#core/base/errors/errors.ts'
import { type FieldPath, joinPath } from '#core/base/values/field-path.ts'

/** A problem of core by the places of its fields in the arguments, in words that need no other names. */
export function placeProblem(
  problem: Problem,
  known: readonly GraphQLArgument[],
  args: Readonly<Record<string, unknown>>,
): Problem {
  const nameOf = (field: FieldPath) => joinPath(placeOfInput(field, known, args))
  const [first, ...others] = problem.mistakes.map(({ field, text }) => ({
    field: placeOfInput(field, known, args),
    text: typeof text === 'string' ? text : text(nameOf),
  }))
  return first === undefined ? problem : problem.replaced(first, others)
}

/** `expiresAt` of core becomes `input.expiresAt`, `agent` becomes `input.agentId`, and the `limit` of a list `first` or `last`. */
function placeOfInput(
  field: FieldPath,
  known: readonly GraphQLArgument[],
  args: Readonly<Record<string, unknown>>,
): FieldPath {
  const [name, ...rest] = field[0] === 'answer' ? ofAnswer(field) : field
  if (name === 'limit') return args.last == null ? ['first'] : ['last']
  if (name === 'cursor') return args.before == null ? ['after'] : ['before']
  for (const [own = ''] of [field, inputNamesOf(field)]) {
    if (known.some((argument) => argument.name === own)) return [own, ...rest]
    const holder = known.find(({ type }) => {
      const named = getNamedType(type)
      return isInputObjectType(named) && Object.hasOwn(named.getFields(), String(own))
    })
    if (holder !== undefined) return [holder.name, own, ...rest]
  }
  return field
}

/** Core names an object by the word alone, which in the schema is the object; its id has a name of its own. */
const ID_NAMES: Readonly<Record<string, string>> = {
  agent: 'agentId',
  app: 'appId',
  conversation: 'conversationId',
}

const ANSWER_NAMES: Readonly<Record<string, string>> = { pause: 'pauseId', option: 'optionId' }

function ofAnswer([answer = '', name, ...rest]: FieldPath): FieldPath {
  return name === undefined ? [answer] : [answer, ANSWER_NAMES[name] ?? name, ...rest]
}

/** A field of core by the name of the input that may hold it. */
function inputNamesOf([name = '', ...rest]: FieldPath): FieldPath {
  return [ID_NAMES[name] ?? name, ...rest]
}

/**
 * Names a mistake in the filter of a list whose total is counted: the count is read by a field of the page, which has no
 * arguments in which a mistake could be found.
 */
export function placeInFilter(error: unknown): never {
  const field = error instanceof Problem ? error.field : undefined
  throw error instanceof Problem && field !== undefined && field[0] !== 'timezone'
    ? error.at(['filter', ...inputNamesOf(field)])
    : error
}
