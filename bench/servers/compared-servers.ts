import type { Pair } from '../figures/pair.ts'
import type { Target } from '../load/load.ts'
import type { Stage } from '../stage.ts'
import { leaveServerCore } from './cores.ts'
import type { ScratchDatabase } from './scratch-database.ts'

export interface ComparedServers {
  readonly database: ScratchDatabase
  readonly targets: Pair<Target>
}

/** Client, platform, pass-through and gateway run in separate processes. */
export async function startComparedServers(stage: Stage): Promise<ComparedServers> {
  stage.atEnd(leaveServerCore())
  const { database, platform, gateway } = await stage.servers()
  const child = await stage.passThrough(`${platform.origin}/v1/chat/completions`)
  const passThrough = { ...child, headers: { 'content-type': 'application/json' } }
  return { database, targets: { base: passThrough, tested: gateway } }
}
