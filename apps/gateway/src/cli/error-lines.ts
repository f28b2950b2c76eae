import { ConfigError } from '#config/load.ts'
import { refusalLine } from '#process/refusal-line.ts'

/** One line for each problem that the operator can correct. Only a fault of the program is shown with its stack. */
export function errorLines(error: unknown): readonly string[] {
  if (error instanceof ConfigError) return error.issues
  const line = refusalLine(error)
  if (line !== undefined) return [line]
  return [error instanceof Error ? (error.stack ?? error.message) : String(error)]
}
