import { errorLines } from './output.ts'
import { createProgram } from './program.ts'

/**
 * The entry point of the process: runs the command line and exits with its code. Without a command it starts the gateway, so that
 * `npx trunkline` does. A default command of commander's would take every mistyped command for an argument of it.
 */
// Whatever this process writes is for its account alone, such as the database, uploads and dumps.
process.umask(0o077)
try {
  const args = process.argv.slice(2)
  await createProgram().parseAsync(args.length > 0 ? args : ['start'], { from: 'user' })
  process.exit()
} catch (error) {
  for (const line of errorLines(error)) console.error(line)
  process.exit(1)
}
