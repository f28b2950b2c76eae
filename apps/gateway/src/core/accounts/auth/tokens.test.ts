import {
  createLocalJWKSet,
  decodeJwt,
  decodeProtectedHeader,
  generateKeyPair,
  jwtVerify,
  SignJWT,
} from 'jose'
import { v7 } from 'uuid'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { rowsOf } from '#core/database/table-rows.test-support.ts'
import type { Principal } from '#core/requests/principal.ts'
import type { SecretKeys } from './stored-secrets.ts'
import { createTokens, type Tokens, type TokensConfig } from './tokens.ts'
import { openUserServices, TOKEN_CONFIG, type UserServices } from './users.test-support.ts'

let services: UserServices

beforeAll(async () => {
  services = await openUserServices()
})
beforeEach(() => services.clear())
afterAll(() => services.database.close())

interface Differing extends SecretKeys {
  readonly config?: Partial<TokensConfig>
}

/** The tokens of another process. */
function tokensWith({ config, ...secretKeys }: Differing = {}): Tokens {
  const { database, runtime } = services
  return createTokens({
    prisma: database.prisma,
    runtime,
    ...secretKeys,
    config: { ...TOKEN_CONFIG, ...config },
  })
}

async function tokenFor(user: Principal, tokens: Tokens = services.tokens): Promise<string> {
  const row = await services.database.prisma.user.findUniqueOrThrow({ where: { id: user.userId } })
  return (await tokens.issue(row)).accessToken
}

function signingKeys() {
  return rowsOf<{ id: string; secret: string }>(services.database.sql, 'signing_keys')
}

test('a token has the documented claims and can be verified with the published keys', async () => {
  const user = await services.join('premium')
  const token = await tokenFor(user)
  const keys = await services.tokens.jwks()
  const { payload } = await jwtVerify(token, createLocalJWKSet(keys), { algorithms: ['EdDSA'] })
  expect(payload).toMatchObject({ iss: 'trunkline', aud: 'trunkline-api', sub: user.userId, role: 'premium' })
  expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(3600)
  expect(decodeProtectedHeader(token)).toEqual({ alg: 'EdDSA', typ: 'JWT', kid: keys.keys[0]?.kid })
  expect(JSON.stringify(keys)).not.toContain('"d"')
})

test('a token authenticates its user with the role that the database has now', async () => {
  const user = await services.join('admin')
  const token = await tokenFor(user)
  await services.database.prisma.user.update({ where: { id: user.userId }, data: { role: 'user' } })
  expect(await services.tokens.verify(token)).toEqual({
    userId: user.userId,
    role: 'user',
    via: { kind: 'token', tokenId: decodeJwt(token).jti, expiresAt: expect.any(Date), epoch: 0 },
  })
})

test.each([
  ['a subject that is not a UUID', { sub: 'alice' }],
  ['an empty subject', { sub: '' }],
  ['a subject with a NUL', { sub: 'a\u0000' }],
  ['an id that is not a UUID', { jti: '1' }],
  ['an expiry beyond the range of Date', { exp: 1e300 }],
  ['an epoch that is not a number', { epoch: '0' }],
])('a token with a valid signature and %s is rejected', async (_what, claims) => {
  const user = await services.join('user')
  const token = await tokenFor(user)
  const [row] = await signingKeys()
  const foreign = await new SignJWT({ ...decodeJwt(token), ...claims })
    .setProtectedHeader({ alg: 'EdDSA', typ: 'JWT', kid: row?.id ?? '' })
    .sign(JSON.parse(row?.secret ?? ''))
  await expect(services.tokens.verify(foreign)).rejects.toMatchObject({ reason: 'token_invalid' })
})

test.each<[string, Partial<TokensConfig>]>([
  ['another issuer', { issuer: 'elsewhere' }],
  ['another audience', { audience: 'elsewhere' }],
])('a token of %s is rejected', async (_name, config) => {
  const token = await tokenFor(await services.join('user'), tokensWith({ config }))
  await expect(services.tokens.verify(token)).rejects.toMatchObject({ reason: 'token_invalid' })
})

test('forged tokens are rejected', async () => {
  const good = await tokenFor(await services.join('admin'))
  const claims = decodeJwt(good)
  const header = { alg: 'EdDSA', typ: 'JWT', kid: String(decodeProtectedHeader(good).kid) }
  const { privateKey } = await generateKeyPair('EdDSA')
  const [stored] = await signingKeys()
  const [publicJwk] = (await services.tokens.jwks()).keys
  const sign = (own: typeof header, key: Parameters<SignJWT['sign']>[0]) =>
    new SignJWT(claims).setProtectedHeader(own).sign(key)
  const [head, body, signature] = good.split('.')
  const forged = {
    'by another key': await sign(header, privateKey),
    'by an unknown kid': await sign({ ...header, kid: v7() }, privateKey),
    'by a hostile kid': await sign({ ...header, kid: "\0' OR 1=1" }, privateKey),
    'by the public key as a secret': await sign(
      { ...header, alg: 'HS256' },
      Buffer.from(String(publicJwk?.x)),
    ),
    unsigned: `${encode({ ...header, alg: 'none' })}.${body}.`,
    'of another type': await sign({ ...header, typ: 'at+jwt' }, JSON.parse(stored?.secret ?? '')),
    'with other claims': `${head}.${encode({ ...claims, sub: v7() })}.${signature}`,
    'of garbage': '..',
    'of more garbage': 'a.b.c',
  }
  for (const [name, token] of Object.entries(forged)) {
    await expect(services.tokens.verify(token), name).rejects.toMatchObject({ reason: 'token_invalid' })
  }
})

test('a token expires at the end of its lifetime, and its user is known then', async () => {
  const user = await services.join('user')
  const token = await tokenFor(user)
  services.clock.passSeconds(3599)
  await services.tokens.verify(token)
  services.clock.passSeconds(1)
  await expect(services.tokens.verify(token)).rejects.toMatchObject({
    reason: 'token_expired',
    refused: { ownerId: user.userId },
  })
})

test('tokens that a suspension revoked stay revoked when the user is active again', async () => {
  const admin = await services.join('admin')
  const user = await services.join('user')
  const token = await tokenFor(user)
  await services.users.update(admin, user.userId, { status: 'suspended' })
  const refused = { ownerId: user.userId }
  await expect(services.tokens.verify(token)).rejects.toMatchObject({ reason: 'owner_suspended', refused })
  await services.users.update(admin, user.userId, { status: 'active' })
  await expect(services.tokens.verify(token)).rejects.toMatchObject({ reason: 'token_revoked', refused })
  await services.tokens.verify(await tokenFor(user))
})

test('a revoked token stays revoked, other tokens of the user stay valid, and expired revocations are deleted', async () => {
  const { tokens, clock } = services
  const user = await services.join('user')
  const [first, second] = [await tokenFor(user), await tokenFor(user)]
  const caller = await tokens.verify(first)
  await tokens.revoke(caller)
  await tokens.revoke(caller)
  await expect(tokens.verify(first)).rejects.toMatchObject({ reason: 'token_revoked' })
  await tokens.verify(second)
  clock.passSeconds(3661)
  await tokens.revoke(await tokens.verify(await tokenFor(user)))
  expect(await rowsOf(services.database.sql, 'revoked_tokens')).toHaveLength(1)
})

test('a retired key neither signs nor verifies tokens', async () => {
  const user = await services.join('user')
  const token = await tokenFor(user)
  await services.database.sql.query('UPDATE signing_keys SET retired_at = $1', [services.runtime.now()])
  services.clock.passSeconds(1)
  await expect(services.tokens.verify(token)).rejects.toMatchObject({ reason: 'token_invalid' })
  const next = await tokenFor(user)
  expect(decodeProtectedHeader(next).kid).not.toBe(decodeProtectedHeader(token).kid)
  await services.tokens.verify(next)
})

test('signing keys are read at most ten times a second for tokens that name unknown keys, and not at all for known ones', async () => {
  const { prisma } = services.database
  const query = vi.spyOn(prisma, '$queryRaw')
  onTestFinished(() => query.mockRestore())
  const reads = () => query.mock.calls.filter(([text]) => 'sql' in text && text.sql.includes('public_jwk'))
  // The clock of the cache stands still until the test moves it, and the reads are still some time apart.
  let nowMs = 0
  const runtime = { ...services.runtime, elapsedMs: () => nowMs }
  const tokens = createTokens({ prisma, runtime, config: TOKEN_CONFIG })
  const token = await tokenFor(await services.join('user'), tokens)
  const [, claims, signature] = token.split('.')
  const naming = (kid: string) => `${encode({ alg: 'EdDSA', typ: 'JWT', kid })}.${claims}.${signature}`
  const refuse = (kid: string) =>
    expect(tokens.verify(naming(kid))).rejects.toMatchObject({ reason: 'token_invalid' })

  await Promise.all(Array.from({ length: 50 }, (_, index) => refuse(`no-uuid-${index}`)))
  await Promise.all(Array.from({ length: 50 }, () => Promise.all([tokens.verify(token), tokens.jwks()])))
  expect(reads()).toHaveLength(1)
  const startedMs = performance.now()
  await Promise.all(Array.from({ length: 500 }, () => refuse(v7())))
  expect(reads().length).toBeLessThanOrEqual(2 + (performance.now() - startedMs) / 100)
  query.mockClear()
  nowMs = 1_000
  await tokens.verify(token)
  expect(reads()).toHaveLength(1)
})

test('with SECRET_KEY the private key is stored encrypted, and only the same SECRET_KEY can read it', async () => {
  const secretKey = 'a secret key of at least 32 characters'
  await tokensWith({ secretKey }).prepare()
  const [row] = await signingKeys()
  expect(row).toMatchObject({ sealed: true, secret: expect.not.stringContaining('kty') })

  const token = await tokenFor(await services.join('user'), tokensWith({ secretKey }))
  await tokensWith().verify(token)
  await expect(tokensWith({ secretKey: 'x'.repeat(32) }).prepare()).rejects.toThrow(
    'SECRET_KEY is not the one',
  )
  await expect(tokensWith().prepare()).rejects.toThrow('SECRET_KEY is not set')
})

test('a SECRET_KEY that is set later encrypts the existing key', async () => {
  const before = tokensWith()
  const token = await tokenFor(await services.join('user'), before)
  await tokensWith({ secretKey: 'a secret key of at least 32 characters' }).prepare()
  expect(await signingKeys()).toMatchObject([{ sealed: true }])
  await before.verify(token)
})

function encode(part: unknown): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url')
}
