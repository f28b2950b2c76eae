import { fail } from '#core/errors.ts'
import type { Limits } from '#core/limits/limits.ts'
import type { Principal } from '#core/principal.ts'
import type { Runtime } from '#core/runtime.ts'
import { type Account, toAccount } from '#core/users/account.ts'
import { normalizeUsername, usernameKey } from '#core/users/rules.ts'
import type { PrismaClient, User } from '#generated/prisma/client.ts'
import type { Passwords } from './passwords.ts'
import type { AccessToken, Tokens } from './tokens.ts'
import { createTurnstile } from './turnstile.ts'

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
  login(input: LoginInput, address: string): Promise<AccessToken & { user: Account }>
  logout(caller: Principal): Promise<void>
}

/** A burst of parallel guesses is judged a few at a time, so that the later ones meet the failures of the earlier. */
const ATTEMPTS_AT_ONCE = 2

export function createLogin({ prisma, runtime, limits, passwords, tokens }: LoginDeps): Login {
  const inTurn = createTurnstile(ATTEMPTS_AT_ONCE)

  async function attempt({ username, password }: LoginInput, address: string): Promise<User> {
    const normal = normalizeUsername(username)
    // Names that nobody can have share one count: they must not fill the store.
    const key = normal === undefined ? undefined : usernameKey(normal)
    const counts = { perUsername: `${address} ${key ?? ''}`, perAddress: address }
    await requireUnderLimits('peek', counts)

    const user = key === undefined ? null : await prisma.user.findUnique({ where: { usernameKey: key } })
    const matches = await passwords.verify(user?.passwordHash, password)
    if (matches && user?.status === 'active') return user
    await requireUnderLimits('take', counts)
    fail('login_failed')
  }

  async function requireUnderLimits(
    verb: 'peek' | 'take',
    counts: { perUsername: string; perAddress: string },
  ) {
    const verdicts = await Promise.all([
      limits.login[verb](counts.perUsername),
      limits.loginAddress[verb](counts.perAddress),
    ])
    const waits = verdicts.filter((verdict) => !verdict.allowed).map((verdict) => verdict.resetSeconds)
    if (waits.length > 0) {
      fail('rate_limited', { detail: 'Too many failed logins.', retryAfterSeconds: Math.max(...waits) })
    }
  }

  return {
    async login(input, address) {
      const accepted = await inTurn(() => attempt(input, address))
      // Issued for the row that the password was checked against: if the password has changed since, the token is void.
      const token = await tokens.issue(accepted)
      const now = runtime.now()
      const user = await prisma.user.update({ where: { id: accepted.id }, data: { lastLogin: now } })
      return { ...token, user: toAccount(user, now) }
    },
    logout: (caller) => tokens.revoke(caller),
  }
}
