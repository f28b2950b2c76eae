import { exportJWK, generateKeyPair, type JWK } from 'jose'
import { createCachedValue } from '#core/async/cached-value.ts'
import { OperatorError } from '#core/operator-error.ts'
import type { Runtime } from '#core/runtime.ts'
import type { PrismaClient, SigningKey } from '#generated/prisma/client.ts'
import { createSecretEncryption } from './secret-encryption.ts'

export const SIGNING_ALGORITHM = 'EdDSA'

export interface SigningKeysDeps {
  readonly prisma: PrismaClient
  readonly runtime: Runtime
  /** Encrypts the private keys in the database; without it they are stored in plain text. */
  readonly secretKey?: string | undefined
}

/** The Ed25519 keys of the installation, kept in the database so that every replica signs with and accepts the same keys. */
export interface SigningKeys {
  /**
   * Returns the private key to sign with, and creates it if there is none.
   *
   * @throws OperatorError if the stored key is encrypted and `SECRET_KEY` is missing or a different one
   */
  current(): Promise<{ id: string; jwk: JWK }>
  /** Returns the public key for a token's `kid`; undefined if it is unknown or retired. Cached like {@link list}. */
  find(id: string): Promise<JWK | undefined>
  /** Returns all public keys that are accepted. The list is cached: another process's change shows within a second. */
  list(): Promise<JWK[]>
}

/**
 * Keys are looked up before a caller is authenticated, also for tokens that name a key which does not exist. The cache keeps
 * such requests from reaching the database.
 */
const CACHE_TTL_MS = 1_000

export function createSigningKeys({ prisma, runtime, secretKey }: SigningKeysDeps): SigningKeys {
  const encryption =
    secretKey === undefined ? undefined : createSecretEncryption(secretKey, runtime.randomBytes)
  let opened: { id: string; jwk: JWK } | undefined
  const accepted = createCachedValue(
    () => prisma.signingKey.findMany({ where: { retiredAt: null }, orderBy: { id: 'desc' } }),
    { runtime, ttlMs: CACHE_TTL_MS },
  )

  // Processes that start at the same time may each create a key. All of these keys verify tokens; every process signs with
  // the newest.
  const newest = () =>
    prisma.signingKey.findFirst({
      where: { retiredAt: null },
      orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
    })

  async function make(): Promise<SigningKey> {
    const { publicKey, privateKey } = await generateKeyPair(SIGNING_ALGORITHM, { extractable: true })
    const id = runtime.newId()
    const named = { kid: id, alg: SIGNING_ALGORITHM, use: 'sig' }
    const text = JSON.stringify(await exportJWK(privateKey))
    return prisma.signingKey.create({
      data: {
        id,
        publicJwk: { ...(await exportJWK(publicKey)), ...named },
        sealed: encryption !== undefined,
        secret: encryption?.encrypt(text, id) ?? text,
        createdAt: runtime.now(),
      },
    })
  }

  async function open({ id, sealed, secret }: SigningKey): Promise<JWK> {
    if (sealed) return JSON.parse(decrypted(secret, id))
    // SECRET_KEY was set after the key was created, so the key is encrypted from now on.
    if (encryption !== undefined) {
      const data = { sealed: true, secret: encryption.encrypt(secret, id) }
      await prisma.signingKey.updateMany({ where: { id, sealed: false }, data })
    }
    return JSON.parse(secret)
  }

  function decrypted(secret: string, id: string): string {
    if (encryption === undefined) {
      throw new OperatorError(
        'SECRET_KEY is not set, but the signing key in the database is encrypted with one.',
      )
    }
    try {
      return encryption.decrypt(secret, id)
    } catch (cause) {
      throw new OperatorError(
        'SECRET_KEY is not the one that the signing key in the database was encrypted with.',
        { cause },
      )
    }
  }

  return {
    async current() {
      const row = (await newest()) ?? (await make())
      if (opened?.id !== row.id) {
        opened = { id: row.id, jwk: await open(row) }
        // Otherwise the first tokens signed with it would be rejected until the cache expires.
        accepted.invalidate()
      }
      return opened
    },
    async find(id) {
      const row = (await accepted.get()).find((each) => each.id === id)
      return row && publicJwk(row)
    },
    async list() {
      return (await accepted.get()).map(publicJwk)
    },
  }
}

function publicJwk(row: SigningKey): JWK {
  return row.publicJwk as JWK
}
