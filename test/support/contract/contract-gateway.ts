import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeApiKey } from '@trunkline/gateway/src/core/accounts/keys/key-format.ts'
import type { Api } from '../api.ts'
import type { TestGateway } from '../gateway.ts'
import { startGatewayWithSandbox } from '../gateway-with-sandbox.ts'
import { fillPath, operationOf } from './contract.ts'
import { type Answer, type HttpRequest, send } from './send.ts'

/** A request to an operation. Method and path come from the contract; `id` is for {@link fillPath}. */
export type OperationRequest = Omit<HttpRequest, 'method' | 'path'> & {
  readonly id?: string
  /** The query string without its question mark. */
  readonly query?: string
}

/** A gateway whose agents fail on demand, with credentials for every kind of caller. */
export interface ContractGateway {
  readonly url: string
  readonly api: Api
  readonly admin: { readonly username: string; readonly password: string; readonly id: string }
  /** The administrator's access token. */
  readonly token: string
  /** An API key that may chat with every agent. */
  readonly key: { readonly id: string; readonly full_key: string }
  /** An API key that may upload files and nothing else. */
  readonly uploadKey: string
  /** The access token of a user with the lowest role, which may not manage anything. */
  readonly userToken: string
  readonly listingsMax: number
  readonly activeKeysMax: number
  readonly keysADayMax: number
  readonly failedLoginsMax: number
  readonly fileBytesMax: number
  readonly fileBytesPerOwnerMax: number
  /** The folder in which the files of uploads are stored. */
  readonly filesFolder: string
  /** Writes the configuration file: the text of the start, or another one. */
  writeConfiguration(text?: string): Promise<void>
  /** Runs a statement in the database, which must not be embedded. */
  readonly query: TestGateway['query']
  /** Returns a unique text. */
  fresh(): string
  send(operationId: string, request: OperationRequest): Promise<Answer>
  remove(): Promise<void>
}

/** Limits are small where a test reaches them, and otherwise too high to interfere. */
const LISTINGS_MAX = 5
const FAILED_LOGINS_MAX = 2
const ACTIVE_KEYS_MAX = 100
const KEYS_A_DAY_MAX = 110
const FILE_BYTES_MAX = 64 * 1024
const FILE_BYTES_PER_OWNER_MAX = 1024 * 1024
const LIMITS = {
  chat: { points: 10_000 },
  upload: { points: 10_000 },
  agents: { points: LISTINGS_MAX },
  login: { points: FAILED_LOGINS_MAX },
  refusedKeys: { points: 1 },
  writes: { points: 10_000 },
  adminWrites: { points: 10_000 },
  successfulLogins: { points: 10_000 },
}

export async function startContractGateway(
  limits: Record<string, { points: number }> = {},
): Promise<ContractGateway> {
  const { gateway, api, token, remove } = await startGatewayWithSandbox({
    // Otherwise there is no route for files.
    isOnDisk: true,
    settings: {
      // Whether one has been built here must make no difference.
      console: false,
      limits: { ...LIMITS, ...limits },
      apiKeys: { activePerUserMax: ACTIVE_KEYS_MAX, createdPerDayMax: KEYS_A_DAY_MAX },
      uploads: { maxBytes: FILE_BYTES_MAX, bytesPerOwnerMax: FILE_BYTES_PER_OWNER_MAX },
    },
    agents: ({ fastgpt }) => ({
      apps: { ...fastgpt, apps: { one: {}, two: {} } },
      hasty: { ...fastgpt, timeouts: { firstByteMs: 50 } },
      // The discard port: nothing listens there, so connections are refused.
      gone: { ...fastgpt, baseUrl: 'http://127.0.0.1:9', breaker: false },
    }),
  })
  const configuration = await readFile(gateway.configFile, 'utf8')
  const { body: me } = await api.call('GET', '/api/v1/users/me', { token })
  const user = await api.createUser(token, 'somebody')
  return {
    url: gateway.url,
    api,
    admin: { ...gateway.admin, id: me.data.id },
    token,
    key: await api.createKey(token),
    uploadKey: (await api.createKey(token, { permissions: ['upload'] })).full_key,
    userToken: await api.login(user.username, user.password),
    listingsMax: LISTINGS_MAX,
    activeKeysMax: ACTIVE_KEYS_MAX,
    keysADayMax: KEYS_A_DAY_MAX,
    failedLoginsMax: FAILED_LOGINS_MAX,
    fileBytesMax: FILE_BYTES_MAX,
    fileBytesPerOwnerMax: FILE_BYTES_PER_OWNER_MAX,
    query: gateway.query,
    writeConfiguration: (text = configuration) => writeFile(gateway.configFile, text),
    filesFolder: join(gateway.dataDir, 'files'),
    fresh: () => randomBytes(6).toString('hex'),
    send: (operationId, request) => sendOperation(gateway.url, operationId, request),
    remove,
  }
}

export function sendOperation(url: string, operationId: string, request: OperationRequest): Promise<Answer> {
  return send(url, requestOf(operationId, request))
}

export function requestOf(
  operationId: string,
  { id = '', query, ...request }: OperationRequest,
): HttpRequest {
  const { method, path } = operationOf(operationId)
  const search = query === undefined ? '' : `?${query}`
  return { method, path: fillPath(path, id) + search, ...request }
}

/** A well-formed key that was never issued. */
export function inventedKey(): string {
  return makeApiKey(randomBytes)
}
