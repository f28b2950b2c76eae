import { exportJWK, generateKeyPair, type JWK } from 'jose'
import { OperatorError } from '#core/operator-error.ts'
import { remember } from '#core/remember.ts'
import type { Runtime } from '#core/runtime.ts'
import type { PrismaClient, SigningKey } from '#generated/prisma/client.ts'
import { createSecretEncryption } from './secret-encryption.ts'

export const SIGNING_ALGORITHM = 'EdDSA'

export interface SigningKeysDeps {
  readonly prisma: PrismaClient
  readonly runtime: Runtime
  /** Where it is set, private keys are stored sealed under it. */
  readonly secretKey?: string | undefined
}

/** The Ed25519 keys of the installation, kept in the database so that every replica signs and accepts the same. */
export interface SigningKeys {
  /** The private key to sign with, made where there is none yet. */
  current(): Promise<{ id: string; jwk: JWK }>
  /** The public key of a token's `kid`; undefined where it is unknown or retired. As remembered as {@link list}. */
  find(id: string): Promise<JWK | undefined>
  /** Every public key that is accepted; another process's change shows within a second. */
  list(): Promise<JWK[]>
}

/** Nobody needs a credential to ask for a key, be it by a token that names one that does not exist. */
const REMEMBERED_MS = 1_000

export function createSigningKeys({ prisma, runtime, secretKey }: SigningKeysDeps): SigningKeys {
  const encryption =
    secretKey === undefined ? undefined : createSecretEncryption(secretKey, runtime.randomBytes)
  let opened: { id: string; jwk: JWK } | undefined
  const accepted = remember(
    () => prisma.signingKey.findMany({ where: { retiredAt: null }, orderBy: { id: 'desc' } }),
    { runtime, forMs: REMEMBERED_MS },
  )

  // Processes that start together may each make a key: all of them verify, and everybody signs with the newest.
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
    // SECRET_KEY was set after the key was made: from now on the key is sealed as well.
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
        // The first token that it signs must be good at once.
        accepted.forget()
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
