import { spawnSync } from 'node:child_process'
import { availableParallelism, cpus, platform } from 'node:os'

/** The server under test has one core to itself; the platform, the clients and the database share the other. */
export const SERVER_CORE = 0
export const OTHER_CORE = 1

/** Moves this process, which plays the clients, off the core of the server under test. Returns how to move it back. */
export function leaveServerCore(): () => Promise<boolean> {
  if (platform() !== 'linux' || availableParallelism() < 2) {
    throw new Error('this scenario needs Linux and two cores')
  }
  if (!pin(process.pid, OTHER_CORE)) throw new Error('this scenario needs taskset')
  return async () => pin(process.pid, `0-${cpus().length - 1}`)
}

/** Moves a process with all its threads to a core or a range. Returns false without the permission to do so. */
export function pin(pid: number, cores: number | string): boolean {
  return spawnSync('taskset', ['-acp', String(cores), String(pid)], { stdio: 'ignore' }).status === 0
}
