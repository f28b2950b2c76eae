import { hashKey, isWellFormedKey } from '#core/accounts/keys/key-format.ts'
import { KEY_REFUSAL } from '#core/accounts/keys/key-refusal.ts'
import { hasTooManyRefused, refuseKey } from '#core/accounts/keys/refused-keys.ts'
import { createBatcher } from '#core/base/async/batcher.ts'
import type { Sql } from '#core/database/database.ts'
import { type ErrorReason, Problem, type RefusedRequester } from '#core/errors/errors.ts'
import type { Limits } from '#core/limits/limits.ts'
import { knownRole, type Permission, type Principal } from '#core/requests/principal.ts'
import type { Tokens } from './tokens.ts'

/** Where the request came from that a credential was sent with. */
export type RequestOrigin = Readonly<Record<'address' | 'requestId', string>>

export interface AuthenticationDeps {
  readonly sql: Sql
  readonly limits: Pick<Limits, 'refusedKeys'>
  readonly tokens: Tokens
}

export type Authentication = ReturnType<typeof createAuthentication>

const FIND_KEYS = `
SELECT encode(k.hash, 'hex') AS hash, k.id AS key_id, k.permissions, k.allowed_agents, k.owner_id, u.role, ${KEY_REFUSAL} AS refusal
FROM api_keys k JOIN users u ON u.id = k.owner_id
WHERE k.hash IN (SELECT decode(value, 'hex') FROM json_array_elements_text($1::json))`

export function createAuthentication({ sql, limits, tokens }: AuthenticationDeps) {
  // Look-ups that arrive together share one statement, so that a burst of requests does not delay the calls of others.
  const findKey = createBatcher<string, KeyRow | undefined>(
    async (hashes) => {
      const rows = await sql.query<KeyRow>(FIND_KEYS, [JSON.stringify(hashes)])
      const found = new Map(rows.map((row) => [row.hash, row]))
      return hashes.map((hash) => found.get(hash))
    },
    { sizeMax: 256, isShared: () => true },
  )

  function requireKeyFormat(key: string, address: string): Promise<never> | undefined {
    const reason = keyFormatProblem(key)
    if (reason === undefined) return undefined
    const problem = new Problem(reason)
    return reason === 'api_key_required' ? Promise.reject(problem) : refuseKey(limits, address, problem)
  }

  async function authenticateKey(key: string, origin: RequestOrigin): Promise<Principal> {
    const { address } = origin
    await requireKeyFormat(key, address)
    const refuse = (reason: ErrorReason, of: RefusedRequester = {}) =>
      refuseKey(limits, address, new Problem(reason).refusing(of))
    const row = await findKey(hashKey(key))
    if (row === undefined) return refuse('key_unknown')
    if (row.refusal !== null) return refuse(row.refusal, { keyId: row.key_id, ownerId: row.owner_id })
    return {
      userId: row.owner_id,
      role: knownRole(row.role),
      via: {
        kind: 'key',
        keyId: row.key_id,
        permissions: row.permissions,
        allowedAgents: row.allowed_agents,
      },
      origin,
    }
  }

  async function authenticateToken(token: string, origin: RequestOrigin): Promise<Principal> {
    return { ...(await tokens.verify(token)), origin }
  }

  return {
    /**
     * Authenticates an access token or an API key. Rejected keys count against the client's address.
     *
     * @throws Problem with status 401, or `rate_limited` after too many rejected keys from one network
     */
    authenticate: (credential: string, from: RequestOrigin): Promise<Principal> =>
      looksLikeToken(credential) ? authenticateToken(credential, from) : authenticateKey(credential, from),
    /**
     * Rejects a credential that cannot be an API key, without a database query; admission looks up the others. Returns
     * undefined for a well-formed key, so that the common case awaits nothing.
     */
    requireKeyFormat,
    /**
     * Whether a credential is an API key that must be looked up before the rest of its request is read, since its address has sent
     * too many that are not valid. Valid ones from there are accepted.
     */
    isSuspect: (credential: string, address: string): boolean =>
      hasTooManyRefused(limits, address) && isWellFormedKey(credential),
  }
}

interface KeyRow {
  readonly hash: string
  readonly key_id: string
  readonly permissions: readonly Permission[]
  readonly allowed_agents: readonly string[]
  readonly owner_id: string
  readonly role: string
  readonly refusal: ErrorReason | null
}

/** Returns why a credential cannot be an API key, judged by its format alone; undefined for a well-formed key. */
export function keyFormatProblem(
  credential: string,
): 'api_key_required' | 'credential_malformed' | undefined {
  if (isWellFormedKey(credential)) return undefined
  return looksLikeToken(credential) ? 'api_key_required' : 'credential_malformed'
}

/** A JWT has two dots; a key has none. */
function looksLikeToken(credential: string): boolean {
  return credential.split('.').length === 3
}
