import { OperatorError } from '#core/base/errors/operator-error.ts'
import type { Runtime } from '#core/base/runtime.ts'
import { createSecretEncryption } from './secret-encryption.ts'

/** The values of `SECRET_KEY` and `SECRET_KEY_PREVIOUS`. */
export interface SecretKeys {
  /** Encrypts and reads; without it secrets are stored in plain text. */
  readonly secretKey?: string | undefined
  /** Only reads. While `SECRET_KEY` is changed it is the other of the two keys, the coming one first and then the old one. */
  readonly secretKeyPrevious?: string | undefined
}

/** A secret as it is in the database. */
export interface StoredSecret {
  /** Whether `secret` is encrypted. */
  readonly sealed: boolean
  readonly secret: string
}

/** What the stored content of a pause is bound to, so that it cannot be moved to another one. */
export function pauseContext(id: string): string {
  return `pause ${id}`
}

/** Stores secrets in the form that `SECRET_KEY` asks for, and reads them in every form that the two keys can read. */
export interface StoredSecrets {
  readonly encrypts: boolean
  seal(text: string, context: string): StoredSecret
  /**
   * Returns the text, and whether the secret is stored as {@link seal} would store it now.
   *
   * @throws OperatorError that names the variable to correct, if neither key reads the secret
   */
  open(stored: StoredSecret, context: string): { readonly text: string; readonly isCurrent: boolean }
}

export function createStoredSecrets(
  { secretKey, secretKeyPrevious }: SecretKeys,
  { randomBytes }: Pick<Runtime, 'randomBytes'>,
): StoredSecrets {
  const encryptionOf = (key: string | undefined) =>
    key === undefined ? undefined : createSecretEncryption(key, randomBytes)
  const current = encryptionOf(secretKey)
  const previous = encryptionOf(secretKeyPrevious)

  return {
    encrypts: current !== undefined,
    seal: (text, context) => ({
      sealed: current !== undefined,
      secret: current?.encrypt(text, context) ?? text,
    }),
    open({ sealed, secret }, context) {
      if (!sealed) return { text: secret, isCurrent: current === undefined }
      let cause: unknown
      for (const encryption of [current, previous]) {
        if (encryption === undefined) continue
        try {
          return { text: encryption.decrypt(secret, context), isCurrent: encryption === current }
        } catch (error) {
          cause = error
        }
      }
      throw new OperatorError(unreadable(current !== undefined, previous !== undefined), { cause })
    },
  }
}

function unreadable(hasKey: boolean, hasPrevious: boolean): string {
  if (hasKey && hasPrevious) {
    return 'SECRET_KEY and SECRET_KEY_PREVIOUS: neither is the one that the signing key in the database was encrypted with.'
  }
  if (hasKey) {
    return 'SECRET_KEY is not the one that the signing key in the database was encrypted with; while it is changed, SECRET_KEY_PREVIOUS holds the other one.'
  }
  const notSet = 'SECRET_KEY is not set, but the signing key in the database is encrypted with one'
  return hasPrevious ? `${notSet}, and SECRET_KEY_PREVIOUS is another.` : `${notSet}.`
}
