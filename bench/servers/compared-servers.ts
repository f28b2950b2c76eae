import type { Target } from '../load/load.ts'
import type { Stage } from '../stage.ts'
import { leaveServerCore } from './cores.ts'
import { mainOf } from './main-of.ts'
import type { ScratchDatabase } from './scratch-database.ts'

/** A gateway, and the database of its own; undefined where that is embedded. */
export interface MeasuredGateway {
  readonly target: Target
  readonly database: ScratchDatabase | undefined
}

export interface Compared {
  /** A checkout or a commit whose gateway is measured as well. */
  readonly from?: string | undefined
  /** Whether the gateways use embedded databases. */
  readonly embedded?: boolean | undefined
}

/** The pass-through and the gateways. Client, platform and each of them run in processes of their own. */
export async function startComparedServers(stage: Stage, { from, embedded = false }: Compared = {}) {
  stage.atEnd(leaveServerCore())
  const platform = await stage.platform()
  const child = await stage.passThrough(`${platform.origin}/v1/chat/completions`)
  const start = async (main?: string): Promise<MeasuredGateway> => {
    const database = embedded ? undefined : await stage.database()
    const options = main === undefined ? {} : { main }
    return { database, target: await stage.gateway(database?.url, platform.origin, options) }
  }
  return {
    passThrough: { ...child, headers: { 'content-type': 'application/json' } } satisfies Target,
    before: from === undefined ? undefined : await start(await mainOf(stage, from)),
    gateway: await start(),
  }
}
