import { fillGrown, grownSettings } from '../data/grown-data.ts'
import type { Target } from '../load/load.ts'
import type { Stage } from '../stage.ts'
import { leaveServerCore } from './cores.ts'
import { agentOf, USERNAME } from './gateway.ts'
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
  /** The calls in the ledger of a gateway that has grown, which is then compared with one on an empty database. */
  readonly grown?: number | undefined
}

/** The pass-through and the gateways. Client, platform and each of them run in processes of their own. */
export async function startComparedServers(stage: Stage, { from, embedded = false, grown }: Compared = {}) {
  stage.atEnd(leaveServerCore())
  const platform = await stage.platform()
  const child = await stage.passThrough(`${platform.origin}/v1/chat/completions`)
  const start = async (main?: string): Promise<MeasuredGateway> => {
    const database = embedded ? undefined : await stage.database()
    const options = main === undefined ? {} : { main }
    return { database, target: await stage.gateway(database?.url, platform.origin, options) }
  }
  const startGrown = async (calls: number): Promise<MeasuredGateway> => {
    const database = await stage.database()
    const settings = grownSettings(agentOf(platform.origin))
    const target = await stage.gateway(database.url, platform.origin, { settings })
    await fillGrown(database.url, USERNAME, calls)
    return { database, target }
  }
  const startBefore = async () => {
    if (from !== undefined) return start(await mainOf(stage, from))
    return grown === undefined ? undefined : start()
  }
  return {
    passThrough: { ...child, headers: { 'content-type': 'application/json' } } satisfies Target,
    before: await startBefore(),
    gateway: grown === undefined ? await start() : await startGrown(grown),
  }
}
