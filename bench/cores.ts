import { spawnSync } from 'node:child_process'

/** The server under test has one core to itself; the platform, the clients and the database share the other. */
export const SERVER_CORE = 0
export const OTHER_CORE = 1

/** Moves a process with all its threads to a core. Returns false without the permission to do so. */
export function pin(pid: number, core: number): boolean {
  return spawnSync('taskset', ['-acp', String(core), String(pid)], { stdio: 'ignore' }).status === 0
}
