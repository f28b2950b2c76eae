import { type Api, apiOf } from '../api.ts'
import { freePort } from '../free-port.ts'
import { type GatewayOptions, prepareGateway, type TestGateway } from '../gateway.ts'
import { until } from '../until.ts'
import type { Backend } from './proxy.ts'

/** A gateway that keeps its ports when it is started again, as proxies expect it. */
export interface RollingReplica extends Backend {
  readonly gateway: TestGateway
  readonly api: Api
  /** Stops it as an operator does, starts it again, and waits until it is ready. Returns what the process ended with. */
  restart(): Promise<number | null>
}

export async function startRollingReplica(options: GatewayOptions): Promise<RollingReplica> {
  const port = await freePort()
  const opsPort = await freePort()
  // Its getters are kept: they may choose another program for the next start.
  const env = { ...options.env, PORT: String(port), OPS_PORT: String(opsPort) }
  const gateway = await prepareGateway(Object.create(options, { env: { value: env } }))
  const start = async () => {
    await gateway.start()
    await until(
      'the replica is ready',
      async () => (await fetch(`http://127.0.0.1:${opsPort}/readyz`).catch(() => undefined))?.status === 200,
    )
  }
  try {
    await start()
  } catch (error) {
    await gateway.remove()
    throw error
  }
  return {
    gateway,
    api: apiOf(gateway),
    port,
    opsPort,
    async restart() {
      const code = await gateway.stop()
      await start()
      return code
    },
  }
}
