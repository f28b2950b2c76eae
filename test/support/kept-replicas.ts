import { createScratchDatabase } from '@trunkline/gateway/src/core/database/scratch-database.test-support.ts'
import { type Sandbox, startSandbox } from '@trunkline/sandbox'
import { type Api, apiOf } from './api.ts'
import { startGateway, type TestGateway } from './gateway.ts'
import { type KeptClient, keptClient } from './kept-calls.ts'
import { RAISED_LIMITS } from './raised-limits.ts'

/** One of the gateways that share a database. */
export interface Member {
  readonly env?: Readonly<Record<string, string>>
  /** The address at which it reaches the database, given the server's own. */
  readonly reach?: (databaseUrl: string) => Promise<string>
}

export interface KeptReplicas {
  readonly sandbox: Sandbox
  readonly databaseUrl: string
  readonly gateways: readonly TestGateway[]
  readonly api: Api
  /** An access token of the administrator. */
  readonly token: string
  /** An API key of the administrator. */
  readonly key: string
  /** A client of one of the gateways, by default with {@link key}. */
  client(index: number, apiKey?: string): KeptClient
  remove(): Promise<void>
}

interface KeptReplicasOptions {
  readonly settings?: Readonly<Record<string, unknown>>
  /** Further agents. */
  readonly agents?: Readonly<Record<string, object>>
}

/** Starts gateways on one new database of this server, in front of the sandbox's emulators. */
export async function startKeptReplicas(
  serverUrl: string,
  members: readonly Member[],
  { settings, agents }: KeptReplicasOptions = {},
): Promise<KeptReplicas> {
  const undo: (() => Promise<unknown>)[] = []
  const remove = async () => {
    for (const step of undo.splice(0).reverse()) await step()
  }
  try {
    const database = await createScratchDatabase(serverUrl)
    undo.push(database.drop)
    const sandbox = await startSandbox({ delayMs: 0 })
    undo.push(() => sandbox.close())
    const config = JSON.stringify({
      limits: RAISED_LIMITS,
      ...settings,
      agents: { ...entriesOf(sandbox), ...agents },
    })
    const gateways: TestGateway[] = []
    for (const { env = {}, reach } of members) {
      const databaseUrl = (await reach?.(database.url)) ?? database.url
      const gateway = await startGateway({ config, databaseUrl, env })
      undo.push(gateway.remove)
      gateways.push(gateway)
    }
    const [first] = gateways
    if (first === undefined) throw new Error('there must be a gateway')
    const api = apiOf(first)
    const token = await api.login()
    const { full_key: key } = await api.createKey(token)
    const client = (index: number, apiKey = key) =>
      keptClient({ url: gateways[index % gateways.length]?.url ?? '', apiKey })
    return { sandbox, databaseUrl: database.url, gateways, api, token, key, client, remove }
  } catch (error) {
    await remove()
    throw error
  }
}

function entriesOf({ agents }: Sandbox): Record<string, object> {
  return Object.fromEntries(
    Object.entries(agents).map(([platform, { baseUrl, apiKey, options }]) => [
      platform,
      { platform, baseUrl, apiKey, ...options },
    ]),
  )
}
