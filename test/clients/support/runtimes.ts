import { existsSync } from 'node:fs'
import { join } from 'node:path'

const INSTALLED = join(import.meta.dirname, '../node_modules')

/** A JavaScript runtime in which the built SDK must work. */
export interface Runtime {
  readonly name: string
  readonly command: string
  /** Arguments before the path of the program. */
  readonly args: readonly string[]
  /** False where the registry has no build for this machine: its tests are then skipped, unless REQUIRE_SERVICES is set. */
  readonly isInstalled: boolean
}

export const RUNTIMES: readonly Runtime[] = [
  runtime('Node 20', join(INSTALLED, 'node-20/bin/node')),
  runtime('Node 22', join(INSTALLED, 'node-22/bin/node')),
  runtime('Node 24', process.execPath),
  runtime('Bun', join(INSTALLED, 'bun/bin/bun'), ['run', '--no-install']),
  runtime('Deno', join(INSTALLED, 'deno/deno'), ['run', '--allow-all', '--no-remote']),
]

function runtime(name: string, command: string, args: readonly string[] = []): Runtime {
  return { name, command, args, isInstalled: existsSync(command) || Boolean(process.env.REQUIRE_SERVICES) }
}
