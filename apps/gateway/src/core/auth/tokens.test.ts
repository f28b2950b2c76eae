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
import type { Principal } from '#core/principal.ts'
import { createTokens, type Tokens, type TokensConfig } from './tokens.ts'
import { type Accounts, OPENING_MS, openAccounts, TOKEN_CONFIG } from './users.test-support.ts'

let accounts: Accounts

beforeAll(async () => {
  accounts = await openAccounts()
}, OPENING_MS)
beforeEach(() => accounts.clear())
afterAll(() => accounts.database.close())

function tokensWith(options: { secretKey?: string; config?: Partial<TokensConfig> } = {}): Tokens {
  return createTokens({
    prisma: accounts.database.prisma,
    runtime: accounts.runtime,
    secretKey: options.secretKey,
    config: { ...TOKEN_CONFIG, ...options.config },
  })
}

async function tokenFor(user: Principal, tokens: Tokens = accounts.tokens): Promise<string> {
  const row = await accounts.database.prisma.user.findUniqueOrThrow({ where: { id: user.userId } })
  return (await tokens.issue(row)).accessToken
}

test('a token carries what the contract names, and anybody can check it by the published keys', async () => {
  const user = await accounts.join('premium')
  const token = await tokenFor(user)
  const keys = await accounts.tokens.jwks()
  const { payload } = await jwtVerify(token, createLocalJWKSet(keys), { algorithms: ['EdDSA'] })
  expect(payload).toMatchObject({ iss: 'trunkline', aud: 'trunkline-api', sub: user.userId, role: 'premium' })
  expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(3600)
  expect(decodeProtectedHeader(token)).toEqual({ alg: 'EdDSA', typ: 'JWT', kid: keys.keys[0]?.kid })
  expect(JSON.stringify(keys)).not.toContain('"d"')
})

test('a token stands for its user, with the role that the database has now', async () => {
  const user = await accounts.join('admin')
  const token = await tokenFor(user)
  await accounts.database.prisma.user.update({ where: { id: user.userId }, data: { role: 'user' } })
  expect(await accounts.tokens.verify(token)).toEqual({
    userId: user.userId,
    role: 'user',
    via: { kind: 'token', tokenId: decodeJwt(token).jti, expiresAt: expect.any(Date) },
  })
})

test.each([
  ['a subject that is no UUID', { sub: 'alice' }],
  ['an empty subject', { sub: '' }],
  ['a subject with a NUL', { sub: 'a\u0000' }],
  ['an id that is no UUID', { jti: '1' }],
  ['an end that no date can hold', { exp: 1e300 }],
  ['an epoch that is no number', { epoch: '0' }],
])('what the signing key has signed with %s is no token of ours', async (_what, claims) => {
  const user = await accounts.join('user')
  const token = await tokenFor(user)
  const [row] = await accounts.database.prisma.signingKey.findMany()
  const foreign = await new SignJWT({ ...decodeJwt(token), ...claims })
    .setProtectedHeader({ alg: 'EdDSA', typ: 'JWT', kid: row?.id ?? '' })
    .sign(JSON.parse(row?.secret ?? ''))
  await expect(accounts.tokens.verify(foreign)).rejects.toMatchObject({ reason: 'token_invalid' })
})

test.each<[string, Partial<TokensConfig>]>([
  ['another issuer', { issuer: 'elsewhere' }],
  ['another audience', { audience: 'elsewhere' }],
])('a token of %s is not valid', async (_name, config) => {
  const token = await tokenFor(await accounts.join('user'), tokensWith({ config }))
  await expect(accounts.tokens.verify(token)).rejects.toMatchObject({ reason: 'token_invalid' })
})

test('forged tokens are not valid', async () => {
  const good = await tokenFor(await accounts.join('admin'))
  const claims = decodeJwt(good)
  const header = { alg: 'EdDSA', typ: 'JWT', kid: String(decodeProtectedHeader(good).kid) }
  const { privateKey } = await generateKeyPair('EdDSA')
  const { secret } = await accounts.database.prisma.signingKey.findFirstOrThrow()
  const [publicJwk] = (await accounts.tokens.jwks()).keys
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
    'of another type': await sign({ ...header, typ: 'at+jwt' }, JSON.parse(secret)),
    'with other claims': `${head}.${encode({ ...claims, sub: v7() })}.${signature}`,
    'of garbage': '..',
    'of more garbage': 'a.b.c',
  }
  for (const [name, token] of Object.entries(forged)) {
    await expect(accounts.tokens.verify(token), name).rejects.toMatchObject({ reason: 'token_invalid' })
  }
})

test('a token ends with its lifetime', async () => {
  const token = await tokenFor(await accounts.join('user'))
  accounts.clock.passSeconds(3599)
  await accounts.tokens.verify(token)
  accounts.clock.passSeconds(1)
  await expect(accounts.tokens.verify(token)).rejects.toMatchObject({ reason: 'token_expired' })
})

test('a suspension ends the tokens for good, also after the user is active again', async () => {
  const admin = await accounts.join('admin')
  const user = await accounts.join('user')
  const token = await tokenFor(user)
  await accounts.users.update(admin, user.userId, { status: 'suspended' })
  await expect(accounts.tokens.verify(token)).rejects.toMatchObject({ reason: 'owner_suspended' })
  await accounts.users.update(admin, user.userId, { status: 'active' })
  await expect(accounts.tokens.verify(token)).rejects.toMatchObject({ reason: 'token_revoked' })
  await accounts.tokens.verify(await tokenFor(user))
})

test('a revoked token stays so, other tokens of the user live on, and expired revocations are cleared away', async () => {
  const { tokens, clock } = accounts
  const user = await accounts.join('user')
  const [first, second] = [await tokenFor(user), await tokenFor(user)]
  const caller = await tokens.verify(first)
  await tokens.revoke(caller)
  await tokens.revoke(caller)
  await expect(tokens.verify(first)).rejects.toMatchObject({ reason: 'token_revoked' })
  await tokens.verify(second)
  clock.passSeconds(3661)
  await tokens.revoke(await tokens.verify(await tokenFor(user)))
  expect(await accounts.database.prisma.revokedToken.count()).toBe(1)
})

test('a retired key signs and opens nothing any more', async () => {
  const user = await accounts.join('user')
  const token = await tokenFor(user)
  await accounts.database.prisma.signingKey.updateMany({ data: { retiredAt: accounts.runtime.now() } })
  accounts.clock.passSeconds(1)
  await expect(accounts.tokens.verify(token)).rejects.toMatchObject({ reason: 'token_invalid' })
  const next = await tokenFor(user)
  expect(decodeProtectedHeader(next).kid).not.toBe(decodeProtectedHeader(token).kid)
  await accounts.tokens.verify(next)
})

test('however many tokens name unknown keys, and however often the keys are read, the database is asked once a second', async () => {
  const { database, runtime, clock } = accounts
  const findMany = vi.spyOn(database.prisma.signingKey, 'findMany')
  onTestFinished(() => findMany.mockRestore())
  const tokens = createTokens({ prisma: database.prisma, runtime, config: TOKEN_CONFIG })
  const token = await tokenFor(await accounts.join('user'), tokens)
  const [, claims, signature] = token.split('.')
  const unknown = () => `${encode({ alg: 'EdDSA', typ: 'JWT', kid: v7() })}.${claims}.${signature}`
  const round = async () => {
    for (let index = 0; index < 20; index += 1) {
      await Promise.all([
        expect(tokens.verify(unknown())).rejects.toMatchObject({ reason: 'token_invalid' }),
        tokens.jwks(),
      ])
    }
    await tokens.verify(token)
  }
  await round()
  expect(findMany).toHaveBeenCalledTimes(1)
  clock.passSeconds(1)
  await round()
  expect(findMany).toHaveBeenCalledTimes(2)
})

test('with SECRET_KEY the private key is stored sealed, and only that SECRET_KEY starts again', async () => {
  const secretKey = 'a secret key of at least 32 characters'
  await tokensWith({ secretKey }).prepare()
  const row = await accounts.database.prisma.signingKey.findFirstOrThrow()
  expect(row).toMatchObject({ sealed: true, secret: expect.not.stringContaining('kty') })

  const token = await tokenFor(await accounts.join('user'), tokensWith({ secretKey }))
  await tokensWith().verify(token)
  await expect(tokensWith({ secretKey: 'x'.repeat(32) }).prepare()).rejects.toThrow(
    'SECRET_KEY is not the one',
  )
  await expect(tokensWith().prepare()).rejects.toThrow('SECRET_KEY is not set')
})

test('a SECRET_KEY that is set later seals the key that is there', async () => {
  const before = tokensWith()
  const token = await tokenFor(await accounts.join('user'), before)
  await tokensWith({ secretKey: 'a secret key of at least 32 characters' }).prepare()
  expect(await accounts.database.prisma.signingKey.findMany()).toMatchObject([{ sealed: true }])
  await before.verify(token)
})

function encode(part: unknown): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url')
}
