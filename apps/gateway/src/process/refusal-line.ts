import { isConnectionError } from '#core/database/connection-error.ts'
import { wordsOf } from '#core/database/unusable-database.ts'
import { Problem } from '#core/errors.ts'
import { OperatorError } from '#core/operator-error.ts'

/**
 * The one line for a failure that whoever runs the command can do something about; undefined for a fault of the program.
 * The running gateway makes the same line of it as a command in a process of its own.
 */
export function refusalLine(error: unknown): string | undefined {
  if (error instanceof Problem) return oneLine(inOptions(error.detail))
  if (error instanceof OperatorError) return oneLine(error.message)
  if (isConnectionError(error)) return oneLine(`The database does not answer: ${wordsOf(error)}.`)
  return undefined
}

/** Whatever the line quotes may hold line breaks. */
export function oneLine(text: string): string {
  return text.replace(/\s*[\r\n\u2028\u2029]+\s*/g, ' ').trim()
}

const POSITIONAL = ['username', 'password', 'id']
const NAMED_OTHERWISE: Readonly<Record<string, string>> = { allowed_agents: 'agents' }

/** Services name a field as REST's body does; here it is an argument or an option. */
function inOptions(detail: string): string {
  return detail.replace(/^body\.(\w+)/, (_, field: string) => {
    if (POSITIONAL.includes(field)) return field
    return `--${NAMED_OTHERWISE[field] ?? field.replaceAll('_', '-')}`
  })
}
