import type { AddressInfo } from 'node:net'
import { createGateway, type Gateway } from '@trunkline/gateway/src/composition/gateway.ts'
import { parseConfig } from '@trunkline/gateway/src/config/load.ts'
import { systemRuntime } from '@trunkline/gateway/src/core/base/runtime.ts'
import type { Database } from '@trunkline/gateway/src/core/database/database.ts'
import { createLogger } from '@trunkline/gateway/src/ops/logger.ts'
import { createServer } from '@trunkline/gateway/src/server/create-server.ts'

/** A server in this process, on a database in a state that a normal start would repair or refuse. */
export interface InProcess {
  readonly url: string
  readonly gateway: Gateway
  /** Completes the start; afterwards calls are served. */
  prepare(): Promise<void>
  drain(): Promise<void>
  close(): Promise<void>
}

const AGENTS = { fastgpt: { baseUrl: 'http://127.0.0.1:9', apiKey: 'none', apps: { demo: {} } } }

export async function serveOn(database: Database, settings: object = {}): Promise<InProcess> {
  const config = parseConfig({ agents: AGENTS, ...settings }, {})
  const log = createLogger('silent')
  const gateway = await createGateway({ config, database, runtime: systemRuntime, log })
  const app = await createServer(config, gateway, log)
  await app.listen({ host: '127.0.0.1', port: 0 })
  return {
    gateway,
    url: `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`,
    async prepare() {
      await gateway.prepare()
      await gateway.open()
    },
    async drain() {
      await gateway.close()
    },
    async close() {
      await app.close()
      await database.close()
    },
  }
}

/** A gateway on the same database whose clock is behind, and which has no clients. */
export function gatewayOfThePast(database: Database, secondsBehind: number): Promise<Gateway> {
  const runtime = { ...systemRuntime, now: () => new Date(Date.now() - secondsBehind * 1000) }
  const config = parseConfig({ agents: AGENTS }, {})
  return createGateway({ config, database, runtime, log: createLogger('silent') })
}
