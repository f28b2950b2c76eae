import { createScratchDatabase } from '@trunkline/gateway/src/core/database/scratch-database.test-support.ts'
import { startGateway, type TestGateway } from './gateway.ts'
import { configOf } from './load.ts'
import { type Platform, startPlatform } from './platform.ts'

export interface Replicas {
  readonly databaseUrl: string
  readonly gateways: readonly TestGateway[]
  readonly platform: Platform
  remove(): Promise<void>
}

/** Starts a gateway with each of these environments, all on a new database of this server and before the same platform. */
export async function startReplicas(
  serverUrl: string,
  environments: readonly Readonly<Record<string, string>>[],
): Promise<Replicas> {
  const undo: (() => Promise<unknown>)[] = []
  const remove = async () => {
    for (const step of undo.splice(0).reverse()) await step()
  }
  try {
    const database = await createScratchDatabase(serverUrl)
    undo.push(database.drop)
    const platform = await startPlatform()
    undo.push(platform.close)
    const gateways: TestGateway[] = []
    for (const env of environments) {
      const options = { config: configOf(platform), databaseUrl: database.url, env }
      const gateway = await startGateway(options)
      undo.push(gateway.remove)
      gateways.push(gateway)
    }
    return { databaseUrl: database.url, gateways, platform, remove }
  } catch (error) {
    await remove()
    throw error
  }
}
