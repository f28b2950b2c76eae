import { once } from 'node:events'
import { join } from 'node:path'
import { spawnOn, stopChild } from '../servers/child.ts'
import { OTHER_CORE } from '../servers/cores.ts'
import type { Stage } from '../stage.ts'
import type { Answered, PacedLoad } from './paced-calls.ts'

/** Makes the calls for so long, and returns their answers. */
export type StartedLoad = (lastsMs: number) => Promise<readonly Answered[]>

/** The load in a process of its own, so that it does not delay the measured calls, and that is started only once. */
export function startPacedLoad(stage: Stage, load: Omit<PacedLoad, 'lastsMs'>): StartedLoad {
  const script = join(import.meta.dirname, 'paced-load.ts')
  const child = spawnOn(OTHER_CORE, [script, JSON.stringify(load)], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  stage.atEnd(() => stopChild(child))
  return async (lastsMs) => {
    const answered = once(child, 'message')
    child.send(lastsMs)
    const [answers] = (await answered) as [Answered[]]
    return answers
  }
}
