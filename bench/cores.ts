import { spawnSync } from 'node:child_process'

/** The server under test has a core of its own; the platform, the clients and the database share the other. */
export const SERVER_CORE = 0
export const OTHER_CORE = 1

/** Moves a process with all its threads; false where that is not ours to do. */
export function pin(pid: number, core: number): boolean {
  return spawnSync('taskset', ['-acp', String(core), String(pid)], { stdio: 'ignore' }).status === 0
}
