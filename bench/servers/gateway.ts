import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { request } from 'undici'
import type { Target } from '../load/load.ts'
import { GATEWAYS_MODEL } from '../load/workload.ts'
import { pidOf, spawnOn, spawnWithNames, stopChild } from './child.ts'
import { SERVER_CORE } from './cores.ts'
import { heapAfterCollection } from './heap.ts'

const MAIN = join(import.meta.dirname, '../../apps/gateway/bin/trunkline.js')
const ADMIN = { username: 'admin', password: 'correct horse battery' }
const WITHIN_MS = 30_000
const A_DAY_MS = 86_400_000
/** High enough that every check runs, but none rejects a call. */
const PLENTY = 1_000_000_000
const LIMIT = { points: PLENTY }

export interface GatewayTarget extends Target {
  /** An access token of the user whom the key in the headers belongs to. */
  readonly token: string
  /** Creates another key, of the administrator; with a limit of its own if one is given. */
  createKey(chatPerMinute?: number): Promise<string>
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
  const { settings, env, username = 'bench', main = MAIN, isInspected = false, resolverConfigFile } = options
  const home = await mkdtemp(join(tmpdir(), 'trunkline-bench-'))
  const config = {
    agents: { bench: { platform: 'openai', baseUrl: `${platformUrl}/v1`, model: GATEWAYS_MODEL } },
    limits: { chat: LIMIT, upload: LIMIT, reports: LIMIT, calls: LIMIT, reads: LIMIT },
    ...settings,
  }
  // The gateway reads YAML, of which JSON is a subset.
  await writeFile(join(home, 'gateway.config.yaml'), JSON.stringify(config))
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
    const { key, login: loginAgain } = await createUser(origin, username)
    return {
      token: await loginAgain(),
      createKey: async (chatPerMinute) =>
        createKey(
          origin,
          await login(origin, ADMIN),
          chatPerMinute === undefined ? {} : { limits: { chat_per_minute: chatPerMinute } },
        ),
      createUser: (name) => createUser(origin, name),
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

/** Chooses the port, because the log line that reports it goes to /dev/null with the rest of the log. */
async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
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
async function createUser(origin: string, username: string): Promise<GatewayUser> {
  const admin = await login(origin, ADMIN)
  const user = { username, password: ADMIN.password }
  const { id } = await post<{ id: string }>(
    `${origin}/api/v1/users`,
    { ...user, max_api_calls: PLENTY, quota_period: 'month' },
    admin,
  )
  return { key: await createKey(origin, admin, { owner_id: id }), login: () => login(origin, user) }
}

async function createKey(
  origin: string,
  token: string,
  more: { owner_id?: string; limits?: object },
): Promise<string> {
  const key = await post<{ full_key: string }>(
    `${origin}/api/v1/api-keys`,
    {
      name: 'bench',
      description: 'bench',
      permissions: ['chat', 'upload'],
      expires_at: new Date(Date.now() + A_DAY_MS).toISOString(),
      ...more,
    },
    token,
  )
  return key.full_key
}

async function login(origin: string, user: { username: string; password: string }): Promise<string> {
  return (await post<{ access_token: string }>(`${origin}/api/v1/login`, user)).access_token
}

async function post<Data>(url: string, body: object, token?: string): Promise<Data> {
  const { statusCode, body: reply } = await request(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify(body),
  })
  const text = await reply.text()
  if (statusCode !== 200) throw new Error(`${url} answered ${statusCode}: ${text}`)
  return (JSON.parse(text) as { data: Data }).data
}
