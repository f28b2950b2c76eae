import type { Database } from '@trunkline/gateway/src/core/database/database.ts'
import type { Principal } from '@trunkline/gateway/src/core/requests/principal.ts'
import { inOneYear } from '../api.ts'
import { inventedKey } from './contract-gateway.ts'
import { gatewayOfThePast, type InProcess } from './in-process.ts'

const ADMIN = { username: 'admin', password: 'correct horse' }
const TOKEN_LIFETIME_SECONDS = 3600

/** A key of the first administrator that may chat and nothing more. */
export async function chatKey({ gateway: { services, processTasks } }: InProcess): Promise<string> {
  const { fullKey } = await services.keys.create(await firstAdmin(processTasks), {
    ...{ name: 'k', description: '', permissions: ['chat'], expiresAt: inOneYear() },
  })
  return fullKey
}

async function firstAdmin({ firstStart }: InProcess['gateway']['processTasks']): Promise<Principal> {
  const user = await firstStart.createFirstAdmin(ADMIN)
  if (user === undefined) throw new Error('there was a user before the first start')
  return { userId: user.id, role: 'admin', via: { kind: 'token', tokenId: '', expiresAt: new Date() } }
}

/** A credential for each reason with which one is refused; undefined for none. */
export async function badCredentials(
  { gateway: { services, processTasks } }: InProcess,
  database: Database,
): Promise<Readonly<Record<string, string | undefined>>> {
  const { prisma } = database
  const admin = await firstAdmin(processTasks)
  const key = { name: 'k', description: '', permissions: ['chat', 'upload', 'admin'], expiresAt: inOneYear() }
  const revoked = await services.keys.create(admin, key)
  await services.keys.revoke(admin, revoked.key.id)
  const rotated = await services.keys.create(admin, key)
  await services.keys.rotate(admin, rotated.key.id, { overlapSeconds: 0 })
  const paused = await services.keys.create(admin, key)
  await services.keys.update(admin, paused.key.id, { isActive: false })
  const elsewhere = await services.keys.create(admin, { ...key, allowedAddresses: ['192.0.2.1'] })
  const expired = await services.keys.create(admin, key)
  await prisma.apiKey.update({ where: { id: expired.key.id }, data: { expiresAt: new Date(0) } })
  const other = await services.users.create(admin, { username: 'other', password: ADMIN.password })
  const suspended = await services.keys.create(admin, { ...key, ownerId: other.id })
  await services.users.update(admin, other.id, { status: 'suspended' })
  const past = await gatewayOfThePast(database, TOKEN_LIFETIME_SECONDS + 1)
  const old = await past.services.login.login(ADMIN, { address: '127.0.0.1', requestId: 'test' })
  const left = await services.login.login(ADMIN, { address: '127.0.0.1', requestId: 'test' })
  await services.login.logout(
    await services.authentication.authenticate(
      left.accessToken,
      { address: '127.0.0.1', requestId: 'test' },
      () => undefined,
    ),
  )
  return {
    credential_missing: undefined,
    credential_malformed: 'tl_mistyped',
    key_unknown: inventedKey(),
    key_expired: expired.fullKey,
    key_revoked: revoked.fullKey,
    key_rotated: rotated.fullKey,
    key_paused: paused.fullKey,
    address_denied: elsewhere.fullKey,
    owner_suspended: suspended.fullKey,
    token_invalid: 'a.b.c',
    token_expired: old.accessToken,
    token_revoked: left.accessToken,
  }
}

/** The reasons of {@link badCredentials}, for tests that are named after them. */
export const CREDENTIAL_REASONS = [
  'credential_missing',
  'credential_malformed',
  'key_unknown',
  'key_expired',
  'key_revoked',
  'key_rotated',
  'key_paused',
  'address_denied',
  'owner_suspended',
  'token_invalid',
  'token_expired',
  'token_revoked',
] as const
