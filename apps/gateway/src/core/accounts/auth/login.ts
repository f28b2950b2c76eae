import pLimit from 'p-limit'
import type { Passwords } from '#core/accounts/users/passwords.ts'
import {
  normalizeUsername,
  PASSWORD_CHARACTERS_MAX,
  USERNAME_INPUT_CHARACTERS_MAX,
  usernameKey,
} from '#core/accounts/users/user-rules.ts'
import { placeOf, type Who } from '#core/audit/actor.ts'
import type { Audit } from '#core/audit/audit.ts'
import { isUnavailable } from '#core/base/errors/connection-error.ts'
import { fail } from '#core/base/errors/errors.ts'
import type { Runtime } from '#core/base/runtime.ts'
import type { Sql } from '#core/database/database.ts'
import { AMPLE_SPACE, type DiskSpace } from '#core/database/disk/disk-space.ts'
import { type Limits, requirePoint } from '#core/limits/limits.ts'
import { networkOf } from '#core/limits/network-of.ts'
import { allOf, ifGiven } from '#core/requests/input/all-of.ts'
import { requireText } from '#core/requests/input/input-rules.ts'
import type { Principal } from '#core/requests/principal.ts'
import type { PrismaClient, User } from '#generated/prisma/client.ts'
import type { RequestOrigin } from './authenticate.ts'
import type { AccessToken, Tokens } from './tokens.ts'

export interface LoginInput {
  readonly username: string
  readonly password: string
}

export interface LoginDeps {
  readonly prisma: PrismaClient
  /** Writes what a login leaves behind. */
  readonly sql: Sql
  readonly runtime: Runtime
  readonly limits: Pick<Limits, 'login' | 'loginAddress' | 'successfulLogins'>
  readonly passwords: Passwords
  readonly tokens: Tokens
  readonly audit: Pick<Audit, 'append' | 'appendBounded'>
  /** Defaults to {@link AMPLE_SPACE}. */
  readonly space?: Pick<DiskSpace, 'isLow'>
}

export type Login = ReturnType<typeof createLogin>

/**
 * Each attempt is counted before its password is checked, and the count is reverted if the password is right. Only a few are
 * checked at a time: otherwise many correct logins at once would exceed the limit before their counts are reverted.
 */
const CONCURRENT_ATTEMPTS_MAX = 2

export function createLogin({
  prisma,
  sql,
  runtime,
  limits,
  passwords,
  tokens,
  audit,
  space = AMPLE_SPACE,
}: LoginDeps) {
  const runQueued = pLimit(CONCURRENT_ATTEMPTS_MAX)

  async function attempt({ username, password }: LoginInput, from: RequestOrigin): Promise<User> {
    const normal = normalizeUsername(username)
    // Invalid usernames share one counter, because each counter takes memory.
    const key = normal === undefined ? undefined : usernameKey(normal)
    const revertCount = await countAttempt(networkOf(from.address), key ?? '')
    const checked = await checkPassword(key, password).catch(async (error: unknown) => {
      await revertCount()
      throw error
    })
    if (checked.refusal !== undefined) {
      await recordFailure(checked, from)
      fail('login_failed')
    }
    await revertCount()
    return checked.user
  }

  async function checkPassword(key: string | undefined, password: string): Promise<Checked> {
    const user = key === undefined ? null : await prisma.user.findUnique({ where: { usernameKey: key } })
    const matches = await passwords.verify(user?.passwordHash, password)
    if (user === null) return { refusal: 'unknown_user' }
    if (!matches) return { refusal: 'wrong_password', user }
    return user.status === 'active' ? { user } : { refusal: 'suspended', user }
  }

  /** A name that is no user's is not recorded, since it may be a password in the wrong field. */
  async function recordFailure({ refusal, user }: Refused, from: RequestOrigin): Promise<void> {
    const who: Who = { actor: 'anonymous', name: user?.username, ...placeOf(from) }
    const subject = user && { target: 'user' as const, targetId: user.id }
    const subjects = [
      { kind: 'address' as const, id: networkOf(from.address) },
      ...(user === undefined ? [] : [{ kind: 'user' as const, id: user.id }]),
    ]
    // Counted separately, so that guesses at the password of a user cannot be hidden behind any number of unknown names.
    const all = user === undefined ? 'address' : 'user'
    const event = { operation: 'login', result: 'failed', reason: refusal, ...subject } as const
    await audit.appendBounded(who, event, subjects, all)
  }

  /**
   * Returns a function that reverts the count. The address is counted first, so that names sent by a blocked address create no
   * counters of their own.
   */
  async function countAttempt(network: string, name: string): Promise<() => Promise<unknown>> {
    const { login: perName, loginAddress: perAddress } = limits
    await requirePoint(perAddress, network)
    try {
      await requirePoint(perName, `${network} ${name}`)
    } catch (error) {
      await perAddress.giveBack(network)
      throw error
    }
    return () => Promise.all([perName.giveBack(`${network} ${name}`), perAddress.giveBack(network)])
  }

  /**
   * After the event, and not in one transaction with it: the row of the user must not be locked while the event waits for another
   * one, since the calls of the user would wait as well.
   */
  async function noteLogin(user: User): Promise<User> {
    const lastLogin = runtime.now()
    try {
      await sql.query(NOTE_LOGIN, [user.id, lastLogin])
      return { ...user, lastLogin }
    } catch (error) {
      // The token is valid, so a login does not fail because the row of the user is locked, or nothing can be written.
      if (!isUnavailable(error)) throw error
      return user
    }
  }

  return {
    /**
     * Checks a password and issues a token. An unknown user, a wrong password and a suspended user give the same error after
     * the same time, so that usernames cannot be guessed.
     *
     * @throws Problem `login_failed`, `rate_limited`, `invalid_request`
     */
    async login(input: LoginInput, from: RequestOrigin): Promise<AccessToken & { user: User }> {
      checkLogin(input)
      const accepted = await runQueued(() => attempt(input, from))
      // Each login leaves a token and an event of the audit log.
      await requirePoint(limits.successfulLogins, `${networkOf(from.address)} ${accepted.id}`)
      // The token carries the epoch of the row whose password was checked: if the password has changed meanwhile, the token
      // is already revoked.
      const { tokenId, ...token } = await tokens.issue(accepted)
      // Users can still log in while the disk is full; only the login is then not recorded.
      if (space.isLow) return { ...token, user: accepted }
      const { id } = accepted
      await audit.append(
        { actor: 'token', userId: id, tokenId, ...placeOf(from) },
        { operation: 'login', target: 'user', targetId: id },
      )
      return { ...token, user: await noteLogin(accepted) }
    },
    /** Revokes the access token that the caller presented. */
    logout: (caller: Principal): Promise<void> => tokens.revoke(caller),
  }
}

/** `$1` user, `$2` time. It waits no longer than a moment for a row that is locked. */
const NOTE_LOGIN = `
WITH brief AS MATERIALIZED (SELECT set_config('lock_timeout', '200ms', true) AS mode)
UPDATE users SET last_login = $2 WHERE id = $1::uuid AND (SELECT count(mode) FROM brief) > 0`

type Refused = {
  readonly refusal: 'unknown_user' | 'wrong_password' | 'suspended'
  readonly user?: User
}
type Checked = Refused | { readonly refusal?: never; readonly user: User }

/**
 * Validates the form of the credentials, as far as they are given.
 *
 * @throws Problem `invalid_request` with all mistakes
 */
export function checkLogin({ username, password }: Partial<LoginInput>): void {
  allOf({
    username: () =>
      ifGiven(username, (text) => requireText(['username'], text, USERNAME_INPUT_CHARACTERS_MAX)),
    // The cost of hashing grows with the length of the text, so the length is checked first.
    password: () => ifGiven(password, (text) => requireText(['password'], text, PASSWORD_CHARACTERS_MAX)),
  })
}
