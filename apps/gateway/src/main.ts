import { errorLines } from './cli/output.ts'
import { createProgram } from './cli/program.ts'

/** The entry point of the process: runs the command line and exits with its code. */
try {
  await createProgram().parseAsync()
  process.exit()
} catch (error) {
  for (const line of errorLines(error)) console.error(line)
  process.exit(1)
}
