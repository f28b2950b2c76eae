import { exportJWK, generateKeyPair, type JWK } from 'jose'
import { validate } from 'uuid'
import { GATEWAY, recorded } from '#core/audit/actor.ts'
import { createCachedValue } from '#core/base/async/cached-value.ts'
import { createSpacedRead } from '#core/base/async/spaced-read.ts'
import type { Runtime } from '#core/base/runtime.ts'
import { Prisma, type PrismaClient } from '#generated/prisma/client.ts'
import { createStoredSecrets, type SecretKeys, type StoredSecret } from './stored-secrets.ts'

export const SIGNING_ALGORITHM = 'EdDSA'

export interface SigningKeysDeps extends SecretKeys {
  readonly prisma: PrismaClient
  readonly runtime: Runtime
}

export interface SigningKey extends StoredSecret {
  readonly id: string
  readonly publicJwk: JWK
  readonly createdAt: Date
  /** Null as long as new tokens are signed with it. */
  readonly retiredAt: Date | null
}

export const SIGNING_KEYS = Prisma.sql`
  SELECT id, public_jwk AS "publicJwk", sealed, secret, created_at AS "createdAt", retired_at AS "retiredAt" FROM signing_keys`

type PublicKey = Pick<SigningKey, 'id' | 'publicJwk' | 'retiredAt'>

/** Private keys are read to sign only, so that they are not kept in the cache. */
const PUBLIC_KEYS = Prisma.sql`
  SELECT id, public_jwk AS "publicJwk", retired_at AS "retiredAt" FROM signing_keys ORDER BY id DESC`

/**
 * Keys are looked up before a caller is authenticated, also for tokens that name a key which does not exist. The cache keeps
 * such requests from reaching the database.
 */
const CACHE_TTL_MS = 1_000
/**
 * A key that the cache lacks may have been made since it was filled, so the keys are read again. All requests that name
 * unknown keys share one read in this time and wait for it, however many there are.
 */
const READ_AGAIN_MS = 100

/** The Ed25519 keys of the installation, kept in the database so that every replica signs with and accepts the same keys. */
export function createSigningKeys({ prisma, runtime, ...secretKeys }: SigningKeysDeps) {
  const secrets = createStoredSecrets(secretKeys, runtime)
  let opened: { id: string; jwk: JWK } | undefined
  const known = createCachedValue(() => prisma.$queryRaw<PublicKey[]>(PUBLIC_KEYS), {
    runtime,
    ttlMs: CACHE_TTL_MS,
  })
  const readAgain = createSpacedRead(
    () => {
      known.invalidate()
      return known.get()
    },
    { runtime, intervalMs: READ_AGAIN_MS },
  )

  /** Encrypts the keys that were made before `SECRET_KEY` was set. */
  async function encryptPlainText(): Promise<void> {
    const plain = await prisma.$queryRaw<
      SigningKey[]
    >`${SIGNING_KEYS} WHERE NOT sealed AND retired_at IS NULL`
    for (const key of plain) {
      const encrypting = replaceSecret(prisma, key, secrets.seal(key.secret, key.id))
      await recorded(prisma, GATEWAY, 'secrets.rewrite', encrypting)
    }
  }

  async function create(): Promise<SigningKey> {
    const key = await newSigningKey(secrets, runtime)
    await recorded(prisma, GATEWAY, 'signingKeys.create', insertKey(prisma, key))
    return key
  }

  async function current(): Promise<{ id: string; jwk: JWK }> {
    // Processes that start at the same time may each create a key. All of these keys verify tokens; every process signs with
    // the newest.
    const [newest] = await prisma.$queryRaw<SigningKey[]>`
      ${SIGNING_KEYS} WHERE retired_at IS NULL ORDER BY created_at DESC, id DESC LIMIT 1`
    const row = newest ?? (await create())
    if (opened?.id !== row.id) {
      opened = { id: row.id, jwk: JSON.parse(secrets.open(row, row.id).text) }
      // Otherwise the first tokens signed with it would wait until the keys are read again.
      known.invalidate()
    }
    return opened
  }

  return {
    /**
     * Reads or creates the key to sign with, and encrypts what is in plain text although there is a `SECRET_KEY`.
     *
     * @throws OperatorError if the stored key can be read with none of the configured keys
     */
    async prepare(): Promise<void> {
      await current()
      if (secrets.encrypts) await encryptPlainText()
    },
    /**
     * Returns the private key to sign with, and creates it if there is none.
     *
     * @throws OperatorError as {@link prepare}
     */
    current,
    /**
     * Returns the public key for a token's `kid`; undefined if it is unknown or not accepted any more. A key that another
     * process has just made is found.
     */
    async find(id: string): Promise<JWK | undefined> {
      const rows = await known.get()
      // Our key ids are UUIDs, so the `kid` of another issuer needs no query.
      const mayBeNew = validate(id) && !rows.some((row) => row.id === id)
      const row = (mayBeNew ? await readAgain() : rows).find((each) => each.id === id)
      return row && isAccepted(row, runtime.now()) ? row.publicJwk : undefined
    },
    /** Returns all public keys that are accepted. The list is cached: another process's change shows within a second. */
    async list(): Promise<JWK[]> {
      const now = runtime.now()
      return (await known.get()).filter((row) => isAccepted(row, now)).map(({ publicJwk }) => publicJwk)
    },
  }
}

/** A new key as it is stored. */
export async function newSigningKey(
  secrets: Pick<ReturnType<typeof createStoredSecrets>, 'seal'>,
  runtime: Runtime,
): Promise<SigningKey> {
  const { publicKey, privateKey } = await generateKeyPair(SIGNING_ALGORITHM, { extractable: true })
  const id = runtime.newId()
  const named = { kid: id, alg: SIGNING_ALGORITHM, use: 'sig' }
  return {
    id,
    publicJwk: { ...(await exportJWK(publicKey)), ...named },
    ...secrets.seal(JSON.stringify(await exportJWK(privateKey)), id),
    createdAt: runtime.now(),
    retiredAt: null,
  }
}

/** Stores a new key as the newest of all, whatever the clock was when the others were made. */
export function insertKey(prisma: PrismaClient, { id, publicJwk, sealed, secret, createdAt }: SigningKey) {
  return prisma.$executeRaw`
    INSERT INTO signing_keys (id, public_jwk, sealed, secret, created_at)
    SELECT ${id}, ${JSON.stringify(publicJwk)}::jsonb, ${sealed}, ${secret},
      GREATEST(${createdAt}::timestamptz, max(created_at) + interval '1 millisecond')
    FROM signing_keys`
}

/** Replaces the secret of a key, unless it has changed. */
export function replaceSecret(prisma: PrismaClient, key: SigningKey, { sealed, secret }: StoredSecret) {
  return prisma.$executeRaw`
    UPDATE signing_keys SET sealed = ${sealed}, secret = ${secret} WHERE id = ${key.id} AND secret = ${key.secret}`
}

/** Whether tokens of this key are accepted: it was not replaced, or so recently that its tokens are still valid. */
export function isAccepted({ retiredAt }: Pick<SigningKey, 'retiredAt'>, now: Date): boolean {
  return retiredAt === null || retiredAt > now
}
