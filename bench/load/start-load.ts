import { once } from 'node:events'
import { join } from 'node:path'
import { spawnOn, stopChild } from '../servers/child.ts'
import { OTHER_CORE } from '../servers/cores.ts'
import type { Stage } from '../stage.ts'

/** Sends a message to the load, and returns what it reports then. */
export type StartedLoad<Message, Report> = (message: Message) => Promise<Report>

/** Starts a load, a script of this folder, in a process of its own, so that it does not delay the measured calls. */
export function startLoad<Message extends string | number, Report>(
  stage: Stage,
  script: string,
  load: object,
): StartedLoad<Message, Report> {
  const child = spawnOn(OTHER_CORE, [join(import.meta.dirname, script), JSON.stringify(load)], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  stage.atEnd(() => stopChild(child))
  return async (message) => {
    const reported = once(child, 'message')
    child.send(message)
    const [report] = (await reported) as [Report]
    return report
  }
}
