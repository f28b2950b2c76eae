import { hashKey, isWellFormedKey } from '#core/accounts/keys/key-format.ts'
import { KEYS_OF_SECRETS, SECRET_REFUSAL } from '#core/accounts/keys/key-refusal.ts'
import { createKeyUses, IS_USE_DUE } from '#core/accounts/keys/key-uses.ts'
import { hasTooManyRefused, refuseKey } from '#core/accounts/keys/refused-keys.ts'
import { createBatcher } from '#core/base/async/batcher.ts'
import { type ErrorReason, Problem } from '#core/base/errors/errors.ts'
import type { Sql } from '#core/database/database.ts'
import type { DiskSpace } from '#core/database/disk/disk-space.ts'
import type { Limits } from '#core/limits/limits.ts'
import { addressDetail, isAllowedAddress } from '#core/requests/allowed-addresses.ts'
import { isManager, knownRole, type Permission, type Principal } from '#core/requests/principal.ts'
import type { Tokens } from './tokens.ts'

/** Where the request came from that a credential was sent with. */
export type RequestOrigin = Readonly<Record<'address' | 'requestId', string>>

/**
 * Returns the end user that a trusted proxy has named in a request; undefined if it has named none.
 *
 * @param isRequired - whether the request has to name one
 * @throws Problem `invalid_request`
 */
export type ReadEndUser = (isRequired: boolean) => string | undefined

export interface AuthenticationDeps {
  readonly sql: Sql
  /** Where uses of keys are recorded. */
  readonly uses: Sql
  readonly space: Pick<DiskSpace, 'isLow'>
  readonly limits: Pick<Limits, 'refusedKeys'>
  readonly tokens: Tokens
  readonly endUsers: EndUserRules
}

/** How requests are bound to end users. */
export interface EndUserRules {
  /** The header by which a trusted proxy names the end user of a request. Without it no request is bound to one. */
  readonly endUserHeader?: string | undefined
  /** Whether a request that is bound to an end user must name one. */
  readonly endUserRequired: boolean
}

export type Authentication = ReturnType<typeof createAuthentication>

const FIND_KEYS = `
SELECT s.hash, k.id AS key_id, CASE WHEN k.is_previous THEN k.previous_prefix ELSE k.prefix END AS prefix, k.permissions, k.allowed_agents, k.allowed_addresses, k.owner_id,
  u.role, ${SECRET_REFUSAL} AS refusal, ${IS_USE_DUE} AS is_use_due
${KEYS_OF_SECRETS}`

export function createAuthentication({ sql, uses, space, limits, tokens, endUsers }: AuthenticationDeps) {
  const { endUserHeader, endUserRequired } = endUsers
  // Look-ups that arrive together share one statement, so that a burst of requests does not delay the calls of others.
  const findKey = createBatcher<string, KeyRow | undefined>(
    async (hashes) => {
      const rows = await sql.query<KeyRow>(FIND_KEYS, [JSON.stringify(hashes)])
      const found = new Map(rows.map((row) => [row.hash, row]))
      return hashes.map((hash) => found.get(hash))
    },
    { sizeMax: 256, isShared: () => true },
  )

  const recordUse = createKeyUses(uses)

  function requireKeyFormat(key: string, address: string): Promise<never> | undefined {
    if (isWellFormedKey(key)) return undefined
    const reason = keyFormatProblem(key)
    const problem = new Problem(reason)
    return reason === 'api_key_required' ? Promise.reject(problem) : refuseKey(limits, address, problem)
  }

  async function authenticateKey(key: string, address: string): Promise<Principal> {
    await requireKeyFormat(key, address)
    const row = await findKey(hashKey(key))
    if (row === undefined) return refuseKey(limits, address, new Problem('key_unknown'))
    const isElsewhere = !isAllowedAddress(row.allowed_addresses, address)
    const refusal = row.refusal ?? (isElsewhere ? 'address_denied' : null)
    if (refusal !== null) {
      const detail = refusal === 'address_denied' ? addressDetail(address) : undefined
      const problem = new Problem(refusal, { detail }).refusing({ keyId: row.key_id, ownerId: row.owner_id })
      if (problem.status === 401) return refuseKey(limits, address, problem)
      throw problem
    }
    if (row.is_use_due && !space.isLow) await recordUse(row.hash)
    return {
      userId: row.owner_id,
      role: knownRole(row.role),
      via: {
        kind: 'key',
        keyId: row.key_id,
        prefix: row.prefix,
        permissions: row.permissions,
        allowedAgents: row.allowed_agents,
      },
    }
  }

  /** Without the header, tokens and the keys that act for their owners are bound to no end user. */
  function endUserOf(caller: Principal, readEndUser: ReadEndUser): string | undefined {
    if (endUserHeader === undefined) return undefined
    return isManager(caller) ? readEndUser(false) : (readEndUser(endUserRequired) ?? '')
  }

  /**
   * Authenticates an access token or an API key, and binds the caller to the end user of the request. Rejected keys count against
   * the client's address.
   *
   * @param readEndUser - is called once the credential is known to be valid
   * @throws Problem with status 401, or `rate_limited` after too many rejected keys from one network; those of `readEndUser`
   */
  async function authenticate(
    credential: string,
    from: RequestOrigin,
    readEndUser: ReadEndUser,
  ): Promise<Principal> {
    const caller = looksLikeToken(credential)
      ? await tokens.verify(credential)
      : await authenticateKey(credential, from.address)
    const endUser = endUserOf(caller, readEndUser)
    return { ...caller, ...(endUser !== undefined && { endUser }), origin: from }
  }

  return {
    authenticate,
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
      performance.now() < limits.refusedKeys.spentUntilMs &&
      hasTooManyRefused(limits, address) &&
      isWellFormedKey(credential),
    /** The header by which a trusted proxy names the end user of a request; undefined if requests are bound to none. */
    endUserHeader,
    /**
     * The end user to whom a request is bound whose key is judged by the admission of its call. The key is looked up only if the
     * request names no end user, since its permissions then decide whether it is bound.
     *
     * @throws Problem like {@link Authentication.authenticate}
     */
    async boundEndUser(
      credential: string,
      from: RequestOrigin,
      readEndUser: ReadEndUser,
    ): Promise<string | undefined> {
      if (endUserHeader === undefined) return undefined
      return readEndUser(false) ?? (await authenticate(credential, from, readEndUser)).endUser
    },
  }
}

interface KeyRow {
  readonly hash: string
  readonly key_id: string
  readonly prefix: string
  readonly permissions: readonly Permission[]
  readonly allowed_agents: readonly string[]
  readonly allowed_addresses: readonly string[]
  readonly owner_id: string
  readonly role: string
  readonly refusal: ErrorReason | null
  readonly is_use_due: boolean
}

/** Returns why a credential that is no well-formed key cannot be an API key. */
export function keyFormatProblem(credential: string): 'api_key_required' | 'credential_malformed' {
  return looksLikeToken(credential) ? 'api_key_required' : 'credential_malformed'
}

/** A JWT has two dots; a key has none. */
function looksLikeToken(credential: string): boolean {
  return credential.split('.').length === 3
}
