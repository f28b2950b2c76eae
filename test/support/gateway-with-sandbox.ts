import { type Sandbox, startSandbox } from '@trunkline/sandbox'
import { type Api, apiOf } from './api.ts'
import { type GatewayOptions, startGateway, type TestGateway } from './gateway.ts'

/** Emulators in this process, a gateway before them, and an administrator with a key. */
export interface GatewayWithSandbox {
  readonly sandbox: Sandbox
  readonly gateway: TestGateway
  readonly api: Api
  readonly token: string
  readonly key: string
  remove(): Promise<void>
}

interface GatewayWithSandboxOptions {
  /** The configuration file, beside the emulators' entries. */
  readonly settings?: Readonly<Record<string, unknown>>
  /** What all of their entries have. */
  readonly entry?: Readonly<Record<string, unknown>>
  /** Further agents, made of the emulators' own. */
  readonly agents?: (entries: Readonly<Record<string, object>>) => Record<string, object>
  readonly env?: GatewayOptions['env']
}

export async function startGatewayWithSandbox({
  settings,
  entry,
  agents,
  env = {},
}: GatewayWithSandboxOptions = {}): Promise<GatewayWithSandbox> {
  const sandbox = await startSandbox({ delayMs: 0 })
  const entries = agentsOf(sandbox, entry)
  const config = {
    limits: { chat: { points: 100_000 } },
    ...settings,
    agents: { ...entries, ...agents?.(entries) },
  }
  // JSON is YAML.
  const gateway = await startGateway({ config: JSON.stringify(config), env })
  const api = apiOf(gateway)
  const token = await api.login()
  const { full_key: key } = await api.createKey(token)
  return {
    ...{ sandbox, gateway, api, token, key },
    async remove() {
      await gateway.remove()
      await sandbox.close()
    },
  }
}

/** Entries for all emulators of a sandbox, as a configuration file has them. */
function agentsOf(sandbox: Sandbox, more: Record<string, unknown> = {}): Record<string, object> {
  return Object.fromEntries(
    Object.entries(sandbox.agents).map(([platform, { baseUrl, apiKey, appId }]) => [
      platform,
      {
        ...{ platform, baseUrl, apiKey, ...more },
        ...(platform === 'openai' && { model: appId }),
        ...(platform === 'coze' && { botId: appId }),
      },
    ]),
  )
}
