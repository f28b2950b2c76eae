import { Agent, request } from 'undici'
import { type Api, apiOf, inOneYear } from '../../test/support/api.ts'
import { KEPT_CALL } from '../load/workload.ts'
import type { Stage } from '../stage.ts'
import { leaveServerCore, pin } from './cores.ts'
import { ADMIN } from './gateway.ts'
import type { ScratchDatabase } from './scratch-database.ts'

/** Gateways on one database. */
export interface Fleet {
  readonly origins: readonly string[]
  readonly api: Api
  readonly token: string
  readonly database: ScratchDatabase
}

export async function startFleet(stage: Stage, processes: number): Promise<Fleet> {
  stage.atEnd(leaveServerCore())
  const database = await stage.database()
  const platform = await stage.platform()
  const origins: string[] = []
  while (origins.length < processes) {
    const options = { username: `bench-${origins.length}` }
    const { origin, pid } = await stage.gateway(database.url, platform.origin, options)
    // Several processes are more than one core can serve beside others.
    if (processes > 1) pin(pid, '0-1')
    origins.push(origin)
  }
  const api = apiOf({ url: origins[0] ?? '', admin: ADMIN })
  return { origins, api, database, token: await api.login() }
}

export const newKey = ({ api, token }: Fleet, more: object = {}) =>
  api.createKey(token, { expires_at: inOneYear(), ...more })

const dispatcher = new Agent({ connections: 200 })

/** `answered`, or why not. */
export async function ask(origin: string, secret: string): Promise<string> {
  const headers = { authorization: `Bearer ${secret}`, agent: 'bench', 'content-type': 'application/json' }
  const call = { method: 'POST', headers, body: KEPT_CALL.body, dispatcher } as const
  try {
    const { statusCode, body } = await request(origin + KEPT_CALL.path, call)
    const { reason } = (await body.json()) as { reason?: string }
    return statusCode === 200 ? 'answered' : `${statusCode} ${reason}`
  } catch (error) {
    return String(error)
  }
}
