import { spawn } from 'node:child_process'
import { once } from 'node:events'

/** A server that a test runs in the foreground. */
export interface Program {
  /** Everything that it has printed so far. */
  readonly output: string
  /** Resolves with the exit code, or null if a signal ended it. */
  readonly ended: Promise<number | null>
  /** Sends the signal and resolves with the exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>
}

/** Starts a program that ends with the test run at the latest. */
export function startProgram(
  command: string,
  args: readonly string[],
  { cwd, env = {} }: { readonly cwd: string; readonly env?: Readonly<Record<string, string>> },
): Program {
  const child = spawn(command, args, {
    cwd,
    // Debian keeps servers out of the path of those who are not root.
    env: { PATH: `${process.env.PATH}:/usr/sbin`, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString()
    })
  }
  const killWithUs = () => child.kill('SIGKILL')
  process.once('exit', killWithUs)
  const ended = once(child, 'close').then(([code]) => {
    process.off('exit', killWithUs)
    return code as number | null
  })
  // A test that does not wait for the end need not fail because the program could not be started.
  ended.catch(() => undefined)
  return {
    ended,
    get output() {
      return output
    },
    stop(signal = 'SIGTERM') {
      child.kill(signal)
      return ended
    },
  }
}
