import { decodeProtectedHeader } from 'jose'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { GATEWAY } from '#core/audit/actor.ts'
import { systemRuntime } from '#core/base/runtime.ts'
import { addPause, type PauseRow, rowsOf } from '#core/database/table-rows.test-support.ts'
import type { Principal } from '#core/requests/principal.ts'
import { createSigningKeyAdministration } from './signing-key-administration.ts'
import { createStoredSecrets, pauseContext, type SecretKeys } from './stored-secrets.ts'
import { createTokens, type Tokens } from './tokens.ts'
import { openUserServices, TOKEN_CONFIG, type UserServices } from './users.test-support.ts'

let services: UserServices
let user: Principal

beforeAll(async () => {
  services = await openUserServices()
})
beforeEach(async () => {
  await services.clear()
  user = await services.join('user')
})
afterAll(() => services.database.close())

const OLD = 'o'.repeat(32)
const NEW = 'n'.repeat(32)

/** What one process does with the tokens and keys in the database. */
function processWith(secretKeys: SecretKeys = {}) {
  const { database, runtime } = services
  const deps = { prisma: database.prisma, runtime, ...secretKeys }
  return {
    tokens: createTokens({ ...deps, config: TOKEN_CONFIG }),
    keys: createSigningKeyAdministration(deps, TOKEN_CONFIG),
  }
}

async function tokenOf(tokens: Tokens): Promise<string> {
  const row = await services.database.prisma.user.findUniqueOrThrow({ where: { id: user.userId } })
  return (await tokens.issue(row)).accessToken
}

const kidOf = (token: string) => decodeProtectedHeader(token).kid
const storedSecrets = () => services.database.sql.query('SELECT sealed, secret FROM signing_keys ORDER BY id')

test('after a rotation every process signs with the new key, accepts its tokens at once, and those of the old one until they expire', async () => {
  const [one, other] = [processWith(), processWith()]
  const before = await tokenOf(one.tokens)
  await other.tokens.verify(before)

  const [signing, accepted] = await one.keys.rotate(GATEWAY)
  expect(signing).toMatchObject({ state: 'signing', acceptedUntil: null })
  expect(accepted).toMatchObject({ id: kidOf(before), state: 'accepted' })
  const after = await tokenOf(one.tokens)
  expect(kidOf(after)).toBe(signing?.id)
  // The other process has the keys from before the rotation in its cache.
  await other.tokens.verify(after)
  await other.tokens.verify(before)
  expect(kidOf(await tokenOf(other.tokens))).toBe(signing?.id)
  expect((await other.tokens.jwks()).keys.map(({ kid }) => kid)).toEqual([signing?.id, kidOf(before)])

  services.clock.passSeconds(TOKEN_CONFIG.lifetimeSeconds - 60)
  await other.tokens.verify(before)
  services.clock.passSeconds(121)
  await expect(other.tokens.verify(before)).rejects.toMatchObject({ reason: 'token_invalid' })
  expect((await other.tokens.jwks()).keys.map(({ kid }) => kid)).toEqual([signing?.id])
})

test('the private key that was replaced is deleted at once, and the whole row with the rotation after its end', async () => {
  const { tokens, keys } = processWith()
  await tokens.prepare()
  await keys.rotate(GATEWAY)
  expect(await storedSecrets()).toEqual([
    { sealed: false, secret: '' },
    { sealed: false, secret: expect.stringContaining('OKP') },
  ])
  services.clock.passSeconds(TOKEN_CONFIG.lifetimeSeconds + 61)
  await keys.rotate(GATEWAY)
  expect(await storedSecrets()).toHaveLength(2)
})

test('a leaked key is refused within a second, also if it was replaced before', async () => {
  const { tokens, keys } = processWith()
  const leaked = await tokenOf(tokens)
  await keys.rotate(GATEWAY)
  const next = await tokenOf(tokens)
  expect(await keys.rotate(GATEWAY, { acceptSeconds: 0 })).toHaveLength(1)
  services.clock.passSeconds(1)
  for (const token of [leaked, next]) {
    await expect(tokens.verify(token)).rejects.toMatchObject({ reason: 'token_invalid' })
  }
  await tokens.verify(await tokenOf(tokens))
})

test('two rotations at the same time leave one key to sign with, and lose no token', async () => {
  const processes = [processWith(), processWith()]
  const before = await tokenOf((processes[0] as (typeof processes)[0]).tokens)
  await Promise.all(processes.map(({ keys }) => keys.rotate(GATEWAY)))
  const tokens = await Promise.all(processes.map((each) => tokenOf(each.tokens)))
  expect(new Set(tokens.map(kidOf)).size).toBe(1)
  for (const each of processes) for (const token of [before, ...tokens]) await each.tokens.verify(token)
})

test('a rotation replaces a key that no configured key reads', async () => {
  await processWith({ secretKey: OLD }).tokens.prepare()
  const lost = processWith({ secretKey: NEW })
  await expect(lost.tokens.prepare()).rejects.toThrow('SECRET_KEY is not the one')
  await lost.keys.rotate(GATEWAY)
  await lost.tokens.prepare()
  expect(await lost.keys.list()).toMatchObject([{ encrypted: true }, { encrypted: null }])
})

/** The values of two replicas, of which the first is a step ahead. */
const STEPS: readonly (readonly [SecretKeys, SecretKeys])[] = [
  [{ secretKey: OLD, secretKeyPrevious: NEW }, { secretKey: OLD }],
  [
    { secretKey: NEW, secretKeyPrevious: OLD },
    { secretKey: OLD, secretKeyPrevious: NEW },
  ],
  [{ secretKey: NEW }, { secretKey: NEW, secretKeyPrevious: OLD }],
]

test('in each step of a change of SECRET_KEY each process reads what the other has written', async () => {
  for (const [index, step] of STEPS.entries()) {
    const [first, second] = step.map(processWith) as [
      ReturnType<typeof processWith>,
      ReturnType<typeof processWith>,
    ]
    for (const [writer, reader] of [
      [first, second],
      [second, first],
    ] as const) {
      await writer.tokens.prepare()
      await reader.tokens.prepare()
      await writer.keys.rotate(GATEWAY)
      await reader.tokens.prepare()
      await reader.tokens.verify(await tokenOf(writer.tokens))
    }
    if (index === 1) expect(await second.keys.rewriteSecrets(GATEWAY)).toMatchObject({ unreadable: [] })
    if (index === 1)
      expect(await first.keys.rewriteSecrets(GATEWAY)).toMatchObject({ rewritten: 1, unreadable: [] })
  }
})

test.each<[string, SecretKeys, SecretKeys, object]>([
  ['another key', { secretKey: OLD }, { secretKey: NEW, secretKeyPrevious: OLD }, { encrypted: true }],
  ['a first key', {}, { secretKey: NEW }, { encrypted: true }],
  ['no key', { secretKey: OLD }, { secretKeyPrevious: OLD }, { encrypted: false }],
])('secrets are rewritten for %s, once, by however many processes', async (_, before, after, stored) => {
  await processWith(before).tokens.prepare()
  const { keys } = processWith(after)
  const both = await Promise.all([keys.rewriteSecrets(GATEWAY), keys.rewriteSecrets(GATEWAY)])
  expect(both.map(({ rewritten }) => rewritten).sort()).toEqual([0, 1])
  expect(await keys.rewriteSecrets(GATEWAY)).toEqual({
    rewritten: 0,
    unchanged: 1,
    unreadable: [],
    ...stored,
  })
  const { secretKeyPrevious: _left, ...alone } = after
  await processWith(alone).tokens.prepare()
})

test('what pauses keep is rewritten as well, and stays bound to its pause', async () => {
  const { sql } = services.database
  const old = processWith({ secretKey: OLD })
  await old.tokens.prepare()
  const ids = ['00000000-0000-7000-8000-000000000001', '00000000-0000-7000-8000-000000000002']
  const secrets = createStoredSecrets({ secretKey: OLD }, systemRuntime)
  for (const id of ids) {
    const { sealed, secret: content } = secrets.seal(`asked ${id}`, pauseContext(id))
    await addPause(sql, { id, ownerId: id, conversation: 'c', sealed, content })
  }
  const { keys } = processWith({ secretKey: NEW, secretKeyPrevious: OLD })
  expect(await keys.rewriteSecrets(GATEWAY)).toMatchObject({ rewritten: 3, unreadable: [] })
  const current = createStoredSecrets({ secretKey: NEW }, systemRuntime)
  for (const { id, sealed, content } of await rowsOf<Required<PauseRow>>(sql, 'pauses')) {
    expect(current.open({ sealed, secret: content }, pauseContext(id)).text).toBe(`asked ${id}`)
    expect(() => current.open({ sealed, secret: content }, pauseContext('another'))).toThrow()
  }
  await sql.query('DELETE FROM pauses')
})

test('a secret that neither key reads is named and stays as it is', async () => {
  await processWith({ secretKey: OLD }).tokens.prepare()
  const before = await storedSecrets()
  const { tokens, keys } = processWith({ secretKey: NEW, secretKeyPrevious: 'x'.repeat(32) })
  expect(await keys.rewriteSecrets(GATEWAY)).toMatchObject({ rewritten: 0, unreadable: [expect.any(String)] })
  expect(await storedSecrets()).toEqual(before)
  await expect(tokens.prepare()).rejects.toThrow(/^SECRET_KEY and SECRET_KEY_PREVIOUS: neither /)
})
