import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { request } from 'undici'
import type { Target } from '../load/load.ts'
import { GATEWAYS_MODEL } from '../load/workload.ts'
import { pidOf, spawnOn, stopChild } from './child.ts'
import { SERVER_CORE } from './cores.ts'

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
  /** Creates another key, of the administrator. */
  createKey(): Promise<string>
  stop(): Promise<void>
}

export interface GatewayOptions {
  /** Further sections of the configuration. */
  readonly settings?: Readonly<Record<string, unknown>>
  readonly env?: Readonly<Record<string, string>>
  /** The name of the user to create; for a database that has been used before, another than before. */
  readonly username?: string
}

/**
 * Starts the gateway as a user does, with all features: key, quota, limit, ledger, metrics, one log line per request. Without
 * a URL it uses the embedded database in its `DATA_DIR`.
 */
export async function startGateway(
  databaseUrl: string | undefined,
  platformUrl: string,
  { settings, env, username = 'bench' }: GatewayOptions = {},
): Promise<GatewayTarget> {
  const home = await mkdtemp(join(tmpdir(), 'trunkline-bench-'))
  const config = {
    agents: { bench: { platform: 'openai', baseUrl: `${platformUrl}/v1`, model: GATEWAYS_MODEL } },
    limits: { chat: LIMIT, upload: LIMIT, reports: LIMIT, calls: LIMIT, reads: LIMIT },
    ...settings,
  }
  // The gateway reads YAML, of which JSON is a subset.
  await writeFile(join(home, 'gateway.config.yaml'), JSON.stringify(config))
  const port = await freePort()
  const child = spawnOn(SERVER_CORE, [MAIN, 'start'], {
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
  })
  const stop = async () => {
    await stopChild(child)
    await rm(home, { recursive: true })
  }
  try {
    const origin = `http://127.0.0.1:${port}`
    await untilReady(origin, () => child.exitCode !== null)
    const { key, token, createKey } = await createUser(origin, username)
    return {
      token,
      createKey,
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

/** Creates a user with a quota, and returns a key and a token of that user. */
async function createUser(origin: string, username: string) {
  const admin = await login(origin, ADMIN)
  const user = { username, password: ADMIN.password }
  const { id } = await post<{ id: string }>(
    `${origin}/api/v1/users`,
    { ...user, max_api_calls: PLENTY, quota_period: 'month' },
    admin,
  )
  const keyOf = async (owner: { owner_id?: string }) => {
    const key = await post<{ full_key: string }>(
      `${origin}/api/v1/api-keys`,
      {
        name: 'bench',
        description: 'bench',
        permissions: ['chat', 'upload'],
        expires_at: new Date(Date.now() + A_DAY_MS).toISOString(),
        ...owner,
      },
      admin,
    )
    return key.full_key
  }
  return { key: await keyOf({ owner_id: id }), token: await login(origin, user), createKey: () => keyOf({}) }
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
