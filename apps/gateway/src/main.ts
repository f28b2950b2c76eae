import { ConfigError } from '#config/load.ts'
import { refusalLine } from '#process/refusal-line.ts'
import { createProgram } from './cli/program.ts'

/** The entry point of the process: runs the command line and exits with its code. */
try {
  await createProgram().parseAsync()
  process.exit()
} catch (error) {
  for (const line of linesOf(error)) console.error(line)
  process.exit(1)
}

/** One line for each problem that the operator can correct. Only a fault of the program is shown with its stack. */
function linesOf(error: unknown): readonly string[] {
  if (error instanceof ConfigError) return error.issues
  const line = refusalLine(error)
  if (line !== undefined) return [line]
  return [error instanceof Error ? (error.stack ?? error.message) : String(error)]
}
