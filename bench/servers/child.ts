import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

export interface Child {
  readonly pid: number
  readonly origin: string
  stop(): Promise<void>
}

/** Starts a script of this folder on one core, and waits until it reports its port. */
export async function startChild(script: string, core: number, ...args: readonly string[]): Promise<Child> {
  const child = spawnOn(core, [join(import.meta.dirname, script), ...args], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const port = await firstOf(child, 'message')
  return { pid: pidOf(child), origin: `http://127.0.0.1:${port}`, stop: () => stopChild(child) }
}

/** `taskset` replaces itself with the command, so the process id is that of Node. */
export function spawnOn(core: number, args: readonly string[], options: object): ChildProcess {
  return spawn('taskset', ['-c', String(core), process.execPath, ...args], options)
}

/** The same with this file in the place of `/etc/resolv.conf`, for this process alone. Only root may do so. */
export function spawnWithNames(
  core: number,
  resolverConfigFile: string,
  args: readonly string[],
  options: object,
): ChildProcess {
  const script = 'mount --bind "$0" /etc/resolv.conf && exec taskset -c "$@"'
  const command = ['--mount', 'sh', '-c', script, resolverConfigFile, String(core), process.execPath, ...args]
  // Both programs replace themselves, too.
  return spawn('unshare', command, options)
}

export function pidOf({ pid }: ChildProcess): number {
  if (pid === undefined) throw new Error('the process did not start')
  return pid
}

export async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill()
  await once(child, 'exit')
}

async function firstOf(child: ChildProcess, event: string): Promise<unknown> {
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`${child.spawnargs.join(' ')} ended with ${code}`)
  })
  const [value] = await Promise.race([once(child, event), ended])
  return value
}
