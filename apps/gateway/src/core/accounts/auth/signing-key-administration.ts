import { sayWho, type Who } from '#core/audit/actor.ts'
import { type RewrittenSecrets, rewriteSecrets } from './rewrite-secrets.ts'
import {
  insertKey,
  isAccepted,
  newSigningKey,
  SIGNING_KEYS,
  type SigningKey,
  type SigningKeysDeps,
} from './signing-keys.ts'
import { createStoredSecrets } from './stored-secrets.ts'

/** What operators do with the signing keys. Replicas read the keys from the database, so they notice it by themselves. */
export interface SigningKeyAdministration {
  /** The keys whose tokens are accepted, the newest first. */
  list(): Promise<SigningKeyState[]>
  /**
   * Makes a new key, with which every process signs from its next login on. The private keys before it are deleted at once;
   * their tokens are accepted for another `acceptSeconds`, by default as long as tokens are valid.
   *
   * @param by - for the audit log
   * @returns the keys whose tokens are accepted
   */
  rotate(by: Who, options?: { readonly acceptSeconds?: number | undefined }): Promise<SigningKeyState[]>
  /** Stores every secret as the current `SECRET_KEY` asks for, or in plain text if there is none. May be repeated. */
  rewriteSecrets(by: Who): Promise<RewrittenSecrets>
}

export interface SigningKeyState {
  readonly id: string
  readonly createdAt: Date
  /** `signing`: new tokens are signed with it. `accepted`: its tokens are valid until `acceptedUntil`. */
  readonly state: 'signing' | 'accepted'
  readonly acceptedUntil: Date | null
  /** Whether the private key is encrypted; null if it has been deleted. */
  readonly encrypted: boolean | null
}

/** A login may sign with the old key a moment after it was replaced, and the clocks of processes differ a little. */
const ACCEPTED_LONGER_MS = 60_000

export function createSigningKeyAdministration(
  { prisma, runtime, ...secretKeys }: SigningKeysDeps,
  { lifetimeSeconds }: { readonly lifetimeSeconds: number },
): SigningKeyAdministration {
  const secrets = createStoredSecrets(secretKeys, runtime)

  async function list(): Promise<SigningKeyState[]> {
    const rows = await prisma.$queryRaw<SigningKey[]>`${SIGNING_KEYS} ORDER BY created_at DESC, id DESC`
    const signing = rows.find(({ retiredAt }) => retiredAt === null)
    return rows.filter((row) => isAccepted(row, runtime.now())).map((row) => stateOf(row, row === signing))
  }

  return {
    list,
    async rotate(by, { acceptSeconds = lifetimeSeconds } = {}) {
      const key = await newSigningKey(secrets, runtime)
      const now = key.createdAt
      const acceptedMs = acceptSeconds === 0 ? 0 : acceptSeconds * 1_000 + ACCEPTED_LONGER_MS
      const retiredAt = new Date(now.getTime() + acceptedMs)
      await prisma.$transaction([
        prisma.$executeRaw(sayWho(by, 'signingKeys.rotate')),
        prisma.$executeRaw`DELETE FROM signing_keys WHERE retired_at <= ${now}::timestamptz`,
        // With 0 seconds a key may have leaked, so those that were replaced before are refused as well.
        prisma.$executeRaw`UPDATE signing_keys SET retired_at = ${retiredAt}::timestamptz, sealed = false, secret = ''
          WHERE retired_at IS NULL OR ${acceptSeconds === 0}::boolean`,
        insertKey(prisma, key),
      ])
      return list()
    },
    rewriteSecrets: (by) => rewriteSecrets({ prisma, secrets }, by),
  }
}

function stateOf(
  { id, createdAt, retiredAt, sealed, secret }: SigningKey,
  isSigning: boolean,
): SigningKeyState {
  return {
    id,
    createdAt,
    state: isSigning ? 'signing' : 'accepted',
    acceptedUntil: retiredAt,
    encrypted: secret === '' ? null : sealed,
  }
}
