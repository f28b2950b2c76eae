import { isConnectionError } from '#core/database/connection-error.ts'
import { messageOf } from '#core/database/unusable-database.ts'
import { Problem } from '#core/errors.ts'
import { type FieldPath, joinPath, renameFields } from '#core/field-path.ts'
import { OperatorError } from '#core/operator-error.ts'

/**
 * The one line for a failure that whoever runs the command can do something about; undefined for a fault of the program.
 * The running gateway makes the same line of it as a command in a process of its own.
 */
export function refusalLine(error: unknown): string | undefined {
  if (error instanceof Problem) return oneLine(error.describe(nameOfOption))
  if (error instanceof OperatorError) return oneLine(error.message)
  if (isConnectionError(error)) return oneLine(`The database does not answer: ${messageOf(error)}.`)
  return undefined
}

/** Whatever the line quotes may hold line breaks. */
export function oneLine(text: string): string {
  return text.replace(/\s*[\r\n\u2028\u2029]+\s*/g, ' ').trim()
}

const POSITIONAL: ReadonlySet<unknown> = new Set(['username', 'password', 'id'])
const OPTIONS_NAMED_OTHERWISE: Readonly<Record<string, string>> = { allowedAgents: 'agents' }

/** A field as the command line takes it: an argument by its name, all else as an option. */
function nameOfOption(field: FieldPath): string {
  const name = joinPath(renameFields(field, (word) => OPTIONS_NAMED_OTHERWISE[word] ?? inKebabCase(word)))
  return POSITIONAL.has(field[0]) ? name : `--${name}`
}

function inKebabCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}
