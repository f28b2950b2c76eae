import { errors, type JWK, type JWTPayload, type JWTVerifyGetKey, jwtVerify, SignJWT } from 'jose'
import { validate } from 'uuid'
import { whoIs } from '#core/audit/actor.ts'
import { eventJson } from '#core/audit/audit.ts'
import { fail, Problem } from '#core/base/errors/errors.ts'
import { knownRole, type Principal, requireToken } from '#core/requests/principal.ts'
import { createSigningKeys, SIGNING_ALGORITHM, type SigningKeysDeps } from './signing-keys.ts'

export interface TokensConfig {
  readonly lifetimeSeconds: number
  readonly issuer: string
  readonly audience: string
}

/** The columns of a user that go into its tokens. */
export interface TokenUser {
  readonly id: string
  readonly role: string
  readonly tokenEpoch: number
}

export interface AccessToken {
  readonly accessToken: string
  /** In seconds. */
  readonly expiresIn: number
}

export interface IssuedToken extends AccessToken {
  /** Its `jti`. */
  readonly tokenId: string
}

export type Tokens = ReturnType<typeof createTokens>

const TYPE = 'JWT'
const KEPT_AFTER_EXPIRY_MS = 60_000

export function createTokens({ config, ...deps }: SigningKeysDeps & { config: TokensConfig }) {
  const { prisma, runtime } = deps
  const { lifetimeSeconds, issuer, audience } = config
  const keys = createSigningKeys(deps)

  const publicKeyOf: JWTVerifyGetKey = async ({ kid }) =>
    (await keys.find(kid ?? '')) ?? fail('token_invalid')

  async function claimsOf(token: string): Promise<Claims> {
    const options = {
      algorithms: [SIGNING_ALGORITHM],
      typ: TYPE,
      issuer,
      audience,
      requiredClaims: ['sub', 'iat', 'exp', 'jti', 'epoch'],
      currentDate: runtime.now(),
    }
    try {
      const { payload } = await jwtVerify<Claims>(token, publicKeyOf, options)
      return hasOwnClaims(payload) ? payload : fail('token_invalid')
    } catch (error) {
      // Its signature is good: jose checks that first.
      if (error instanceof errors.JWTExpired) throw expired(error)
      if (error instanceof errors.JOSEError) fail('token_invalid', { cause: error })
      throw error
    }
  }

  return {
    /** Reads or creates the signing key. Called at start, so that a wrong `SECRET_KEY` fails there and not at a login. */
    async prepare(): Promise<void> {
      await keys.prepare()
    },
    async issue({ id, role, tokenEpoch }: TokenUser): Promise<IssuedToken> {
      const key = await keys.current()
      const iat = Math.floor(runtime.now().getTime() / 1000)
      const tokenId = runtime.newId()
      const accessToken = await new SignJWT({
        iss: issuer,
        aud: audience,
        sub: id,
        role,
        epoch: tokenEpoch,
        iat,
        exp: iat + lifetimeSeconds,
        jti: tokenId,
      })
        .setProtectedHeader({ alg: SIGNING_ALGORITHM, typ: TYPE, kid: key.id })
        .sign(key.jwk)
      return { tokenId, accessToken, expiresIn: lifetimeSeconds }
    },
    /**
     * Checks a token and returns its user. The role is read from the database, not from the token, so that a demotion takes
     * effect at once.
     *
     * @throws Problem `token_invalid`, `token_expired`, `token_revoked`, `owner_suspended`
     */
    async verify(token: string): Promise<Principal> {
      const { sub, jti, exp, epoch } = await claimsOf(token)
      const [user, revoked] = await Promise.all([
        prisma.user.findUnique({ where: { id: sub } }),
        prisma.$queryRaw<unknown[]>`SELECT 1 AS one FROM revoked_tokens WHERE id = ${jti}::uuid`,
      ])
      if (user === null) fail('token_invalid')
      const ownerId = user.id
      if (user.status !== 'active') throw new Problem('owner_suspended').refusing({ ownerId })
      if (user.tokenEpoch !== epoch || revoked.length > 0)
        throw new Problem('token_revoked').refusing({ ownerId })
      return {
        userId: user.id,
        role: knownRole(user.role),
        via: { kind: 'token', tokenId: jti, expiresAt: new Date(exp * 1000), epoch },
      }
    },
    /** Revokes the token that the caller presented. */
    async revoke(caller: Principal): Promise<void> {
      const { tokenId, expiresAt } = requireToken(caller)
      const event = eventJson(whoIs(caller), { operation: 'logout', target: 'session', targetId: tokenId })
      await prisma.$transaction([
        prisma.$executeRaw`INSERT INTO revoked_tokens (id, expires_at)
          VALUES (${tokenId}::uuid, ${expiresAt}::timestamptz) ON CONFLICT DO NOTHING`,
        prisma.$executeRaw`SELECT audit_append(${event}::jsonb)`,
      ])
      // Revocations are kept a little longer than their tokens, because the clock of another process may lag behind and still
      // accept the token.
      const expired = new Date(runtime.now().getTime() - KEPT_AFTER_EXPIRY_MS)
      await prisma.$executeRaw`DELETE FROM revoked_tokens WHERE expires_at < ${expired}::timestamptz`
    },
    /** Returns the public signing keys as a JSON Web Key Set. */
    async jwks(): Promise<{ keys: JWK[] }> {
      return { keys: await keys.list() }
    },
  }
}

function expired(cause: errors.JWTExpired): Problem {
  const problem = new Problem('token_expired', { cause })
  const { sub } = cause.payload
  return validate(sub) ? problem.refusing({ ownerId: sub }) : problem
}

/**
 * Whether the claims have the types that this module writes. A valid signature does not guarantee it: an operator may sign
 * other tokens with the same key, and a query for an id that is not a UUID would fail with a database error.
 */
function hasOwnClaims({ sub, jti, exp, epoch }: Claims): boolean {
  return validate(sub) && validate(jti) && exp <= SECONDS_MAX && Number.isInteger(epoch)
}

/** The latest time that a `Date` can represent, in seconds since 1970. */
const SECONDS_MAX = 8.64e12

/** Checked by {@link hasOwnClaims}. */
interface Claims extends JWTPayload {
  readonly sub: string
  readonly jti: string
  readonly exp: number
  readonly epoch: number
}
