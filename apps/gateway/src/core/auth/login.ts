import pLimit from 'p-limit'
import { fail } from '#core/errors.ts'
import { requireText } from '#core/input-rules.ts'
import type { Limiter, Limits } from '#core/limits/limits.ts'
import { networkOf } from '#core/limits/network-of.ts'
import type { Principal } from '#core/principal.ts'
import type { Runtime } from '#core/runtime.ts'
import type { Passwords } from '#core/users/passwords.ts'
import {
  normalizeUsername,
  PASSWORD_CHARACTERS_MAX,
  USERNAME_INPUT_CHARACTERS_MAX,
  usernameKey,
} from '#core/users/rules.ts'
import type { PrismaClient, User } from '#generated/prisma/client.ts'
import type { AccessToken, Tokens } from './tokens.ts'

export interface LoginInput {
  readonly username: string
  readonly password: string
}

export interface LoginDeps {
  readonly prisma: PrismaClient
  readonly runtime: Runtime
  readonly limits: Pick<Limits, 'login' | 'loginAddress'>
  readonly passwords: Passwords
  readonly tokens: Tokens
}

export interface Login {
  /** Fails alike, in words and in time, for an unknown user, a wrong password and a suspended user. */
  login(input: LoginInput, address: string): Promise<AccessToken & { user: User }>
  logout(caller: Principal): Promise<void>
}

/**
 * An attempt is counted before it is judged and given back where it was right. Few are judged at a time, so that right ones
 * that come together are not refused for each other.
 */
const ATTEMPTS_AT_ONCE = 2

export function createLogin({ prisma, runtime, limits, passwords, tokens }: LoginDeps): Login {
  const inTurn = pLimit(ATTEMPTS_AT_ONCE)

  async function attempt({ username, password }: LoginInput, address: string): Promise<User> {
    const normal = normalizeUsername(username)
    // Names that nobody can have share one count: they must not fill the store.
    const key = normal === undefined ? undefined : usernameKey(normal)
    const takeBack = await countAttempt(networkOf(address), key ?? '')
    const user = await judge(key, password).catch(async (error: unknown) => {
      await takeBack()
      throw error
    })
    if (user === undefined) fail('login_failed')
    await takeBack()
    return user
  }

  async function judge(key: string | undefined, password: string): Promise<User | undefined> {
    const user = key === undefined ? null : await prisma.user.findUnique({ where: { usernameKey: key } })
    const matches = await passwords.verify(user?.passwordHash, password)
    return matches && user?.status === 'active' ? user : undefined
  }

  /** Returns how to take it back. The address comes first: names that it is refused for fill no store. */
  async function countAttempt(network: string, name: string): Promise<() => Promise<unknown>> {
    const { login: perName, loginAddress: perAddress } = limits
    await take(perAddress, network)
    try {
      await take(perName, `${network} ${name}`)
    } catch (error) {
      await perAddress.giveBack(network)
      throw error
    }
    return () => Promise.all([perName.giveBack(`${network} ${name}`), perAddress.giveBack(network)])
  }

  return {
    async login(input, address) {
      // Hashing takes longer the longer the text is.
      requireText(['username'], input.username, USERNAME_INPUT_CHARACTERS_MAX)
      requireText(['password'], input.password, PASSWORD_CHARACTERS_MAX)
      const accepted = await inTurn(() => attempt(input, address))
      // Issued for the row that the password was checked against: if the password has changed since, the token is void.
      const token = await tokens.issue(accepted)
      const now = runtime.now()
      const user = await prisma.user.update({ where: { id: accepted.id }, data: { lastLogin: now } })
      return { ...token, user }
    },
    logout: (caller) => tokens.revoke(caller),
  }
}

async function take(limiter: Limiter, key: string): Promise<void> {
  const { allowed, resetSeconds } = await limiter.take(key)
  if (!allowed) fail('rate_limited', { detail: 'Too many failed logins.', retryAfterSeconds: resetSeconds })
}
