import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { request } from 'undici'
import { type Api, apiOf } from '../../test/support/api.ts'
import { freePort } from '../../test/support/free-port.ts'
import type { Target } from '../load/load.ts'
import { GATEWAYS_MODEL } from '../load/workload.ts'
import { pidOf, spawnOn, spawnWithNames, stopChild } from './child.ts'
import { SERVER_CORE } from './cores.ts'
import { heapAfterCollection } from './heap.ts'

const MAIN = join(import.meta.dirname, '../../apps/gateway/bin/trunkline.js')
/** Who may do everything. */
export const ADMIN = { username: 'admin', password: 'correct horse battery' }
const WITHIN_MS = 30_000
const KEY = { permissions: ['chat', 'upload'] }
/** High enough that every check runs, but none rejects a call. */
const PLENTY = 1_000_000_000
const LIMIT = { points: PLENTY }
const LOGINS = { login: LIMIT, loginAddress: LIMIT, successfulLogins: LIMIT }

/** The user whose key the calls have. */
export const USERNAME = 'bench'

/** The entry of the agent that is called. */
export function agentOf(platformUrl: string) {
  return { platform: 'openai', baseUrl: `${platformUrl}/v1`, model: GATEWAYS_MODEL }
}

export interface GatewayTarget extends Target {
  /** An access token of the user whom the key in the headers belongs to. */
  readonly token: string
  /** Creates another key, of the administrator. */
  createKey(): Promise<string>
  /** Creates another user with a key. */
  createUser(username: string): Promise<GatewayUser>
  /** The bytes that are in use on the heap after a collection. Only of a gateway that is inspected. */
  heapBytes(): Promise<number>
  stop(): Promise<void>
}

export interface GatewayUser {
  readonly key: string
  login(): Promise<string>
}

export interface GatewayOptions {
  /** Further sections of the configuration. */
  readonly settings?: Readonly<Record<string, unknown>>
  readonly env?: Readonly<Record<string, string>>
  /** The name of the user to create; for a database that has been used before, another than before. */
  readonly username?: string
  /** The program to run instead of this checkout's. */
  readonly main?: string
  /** Whether the heap is to be read, for which Node opens a port on the loopback interface. */
  readonly isInspected?: boolean
  /** The file that the process sees in the place of `/etc/resolv.conf`. Only root can do so. */
  readonly resolverConfigFile?: string
}

/**
 * Starts the gateway as a user does, with all features: key, quota, limit, ledger, metrics, one log line per request. Without
 * a URL it uses the embedded database in its `DATA_DIR`.
 */
export async function startGateway(
  databaseUrl: string | undefined,
  platformUrl: string,
  options: GatewayOptions = {},
): Promise<GatewayTarget> {
  const { settings, env, username = USERNAME, main = MAIN, isInspected = false, resolverConfigFile } = options
  const home = await mkdtemp(join(tmpdir(), 'trunkline-bench-'))
  const config = {
    agents: { bench: agentOf(platformUrl) },
    limits: { chat: LIMIT, upload: LIMIT, reports: LIMIT, calls: LIMIT, reads: LIMIT, ...LOGINS },
    ...settings,
  }
  // The gateway reads YAML, of which JSON is a subset.
  await writeFile(join(home, 'gateway.config.yaml'), JSON.stringify(config))
  // Chosen here, because the log line that reports it goes to /dev/null with the rest of the log.
  const port = await freePort()
  const inspectorPort = isInspected ? await freePort() : undefined
  const args =
    inspectorPort === undefined ? [] : [`--inspect=127.0.0.1:${inspectorPort}`, '--inspect-publish-uid=http']
  const spawned = {
    cwd: home,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      PATH: process.env.PATH,
      PORT: String(port),
      ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
      ADMIN_PASSWORD: ADMIN.password,
      LOG_LEVEL: 'info',
      ...env,
    },
  }
  const child =
    resolverConfigFile === undefined
      ? spawnOn(SERVER_CORE, [...args, main, 'start'], spawned)
      : spawnWithNames(SERVER_CORE, resolverConfigFile, [...args, main, 'start'], spawned)
  const stop = async () => {
    await stopChild(child)
    await rm(home, { recursive: true })
  }
  try {
    const origin = `http://127.0.0.1:${port}`
    await untilReady(origin, () => child.exitCode !== null)
    const api = apiOf({ url: origin, admin: ADMIN })
    const { key, login } = await createUser(api, username)
    return {
      token: await login(),
      createKey: async () => (await api.createKey(await api.login(), KEY)).full_key,
      createUser: (name) => createUser(api, name),
      heapBytes: () => heapAfterCollection(inspectorPort),
      pid: pidOf(child),
      origin,
      headers: { 'content-type': 'application/json', agent: 'bench', authorization: `Bearer ${key}` },
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

async function untilReady(origin: string, hasEnded: () => boolean): Promise<void> {
  const deadlineMs = performance.now() + WITHIN_MS
  while (performance.now() < deadlineMs && !hasEnded()) {
    const reply = await request(`${origin}/readyz`).catch(() => undefined)
    await reply?.body.dump()
    if (reply?.statusCode === 200) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error('the gateway did not become ready')
}

/** Creates a user with a quota and a key. */
async function createUser(api: Api, name: string): Promise<GatewayUser> {
  const admin = await api.login()
  const quota = { max_api_calls: PLENTY, quota_period: 'month' }
  const { id, username, password } = await api.createUser(admin, name, quota)
  const { full_key: key } = await api.createKey(admin, { ...KEY, owner_id: id })
  return { key, login: () => api.login(username, password) }
}
