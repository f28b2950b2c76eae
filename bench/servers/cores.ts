import { spawnSync } from 'node:child_process'
import { availableParallelism, platform } from 'node:os'

/** The server under test has one core to itself; the platform, the clients and the database share the other. */
export const SERVER_CORE = 0
export const OTHER_CORE = 1

/** Moves this process, which plays the clients, off the core of the server under test. */
export function leaveServerCore(): void {
  if (platform() !== 'linux' || availableParallelism() < 2) {
    throw new Error('this scenario needs Linux and two cores')
  }
  if (!pin(process.pid, OTHER_CORE)) throw new Error('this scenario needs taskset')
}

/** Moves a process with all its threads to a core. Returns false without the permission to do so. */
export function pin(pid: number, core: number): boolean {
  return spawnSync('taskset', ['-acp', String(core), String(pid)], { stdio: 'ignore' }).status === 0
}
