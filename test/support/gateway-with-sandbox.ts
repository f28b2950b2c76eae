import { type Sandbox, startSandbox } from '@trunkline/sandbox'
import { type Api, apiOf } from './api.ts'
import { type GatewayOptions, startGateway, type TestGateway } from './gateway.ts'

/** The sandbox's emulators in this process, a gateway in front of them, and an administrator with an API key. */
export interface GatewayWithSandbox {
  readonly sandbox: Sandbox
  readonly gateway: TestGateway
  readonly api: Api
  /** An access token of the administrator. */
  readonly token: string
  /** An API key of the administrator that may chat with every agent. */
  readonly key: string
  /**
   * Sends calls that succeed, while a test provokes one failure after the other: a caller is refused after five in a row, and
   * everybody when half of the latest calls have found no connection, so there must be more of these than such failures.
   */
  succeed(agent: string, calls?: number): Promise<void>
  remove(): Promise<void>
}

/** The conversation of the calls of {@link GatewayWithSandbox.succeed}. */
export const SUCCESSES = 'successes'

interface GatewayWithSandboxOptions {
  /** Further sections of the configuration file; the agents are the emulators. */
  readonly settings?: Readonly<Record<string, unknown>>
  /** Options that are added to the entry of every emulator. */
  readonly entry?: Readonly<Record<string, unknown>>
  /** Returns further agents, given the entries of the emulators by platform, and the emulators. */
  readonly agents?: (
    entries: Readonly<Record<string, object>>,
    sandbox: Sandbox,
  ) => Record<string, object> | Promise<Record<string, object>>
  readonly env?: GatewayOptions['env']
  readonly databaseUrl?: string | undefined
  readonly isOnDisk?: boolean
  readonly isFirstStart?: boolean
}

export async function startGatewayWithSandbox({
  settings,
  entry,
  agents,
  env = {},
  databaseUrl,
  isOnDisk = false,
  isFirstStart = false,
}: GatewayWithSandboxOptions = {}): Promise<GatewayWithSandbox> {
  const sandbox = await startSandbox({ delayMs: 0 })
  const entries = agentsOf(sandbox, entry)
  const config = {
    limits: { chat: { points: 100_000 } },
    ...settings,
    agents: { ...entries, ...(await agents?.(entries, sandbox)) },
  }
  // The gateway reads YAML, of which JSON is a subset.
  const gateway = await startGateway({
    config: JSON.stringify(config),
    env,
    databaseUrl,
    isOnDisk,
    isFirstStart,
  })
  const api = apiOf(gateway)
  const token = await api.login()
  const { full_key: key } = await api.createKey(token)
  return {
    sandbox,
    gateway,
    api,
    token,
    key,
    async succeed(agent, calls = 3) {
      for (let call = 0; call < calls; call += 1) {
        const response = await api.chat(key, agent, { chat_id: SUCCESSES, conversation_id: SUCCESSES })
        const text = await response.text()
        if (!response.ok) throw new Error(`${agent}: ${text}`)
      }
    },
    async remove() {
      await gateway.remove()
      await sandbox.close()
    },
  }
}

/** The `agents` section of a configuration file with one entry per emulator. */
function agentsOf(sandbox: Sandbox, more: Record<string, unknown> = {}): Record<string, object> {
  return Object.fromEntries(
    Object.entries(sandbox.agents).map(([platform, { baseUrl, apiKey, appId }]) => [
      platform,
      {
        platform,
        baseUrl,
        apiKey,
        ...more,
        ...(platform === 'openai' && { model: appId }),
        ...(platform === 'coze' && { botId: appId }),
      },
    ]),
  )
}
