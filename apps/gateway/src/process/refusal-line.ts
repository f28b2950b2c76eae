import { isConnectionError, OBSTACLES, writeObstacle } from '#core/base/errors/connection-error.ts'
import { Problem } from '#core/base/errors/errors.ts'
import { OperatorError } from '#core/base/errors/operator-error.ts'
import { type FieldPath, joinPath, renameFields } from '#core/base/values/field-path.ts'
import { messageOf } from '#core/database/unusable-database.ts'

/**
 * The line to show for an error that the operator can correct, or undefined for a fault of the program. The running gateway
 * and the command line both use it, so that a command fails with the same message in either process.
 */
export function refusalLine(error: unknown): string | undefined {
  if (error instanceof Problem) return oneLine(error.describe(nameOfOption))
  if (error instanceof OperatorError) return oneLine(error.message)
  const obstacle = writeObstacle(error)
  if (obstacle !== undefined) {
    // Only the server knows of which table.
    const why = obstacle === 'missing_right' ? messageOf(error) : OBSTACLES[obstacle]
    return oneLine(`The database takes no writes: ${why}.`)
  }
  if (isConnectionError(error)) return oneLine(`The database does not answer: ${messageOf(error)}.`)
  return undefined
}

/** Replaces line breaks, which quoted values may contain, by spaces. */
export function oneLine(text: string): string {
  return text
    .split(/[\r\n\u2028\u2029]/)
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join(' ')
}

const POSITIONAL: ReadonlySet<unknown> = new Set(['username', 'password', 'id'])
/** Options whose names differ from those of core. */
const RENAMED_OPTIONS: Readonly<Record<string, string>> = {
  allowedAgents: 'agents',
  allowedAddresses: 'addresses',
}

/** The name of a field on the command line: positional arguments by their name, all others as an option. */
function nameOfOption(field: FieldPath): string {
  const own = field[0] === 'limits' ? field.slice(1) : field
  const name = joinPath(renameFields(own, (word) => RENAMED_OPTIONS[word] ?? inKebabCase(word)))
  return POSITIONAL.has(field[0]) ? name : `--${name}`
}

/** A name of core as options are written. */
export function inKebabCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}
