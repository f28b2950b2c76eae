import { createHmac } from 'node:crypto'
import { BoundedMap } from '#core/base/values/bounded-map.ts'

/**
 * The ids of conversations and end users at platforms. They are derived with a secret, so that a caller cannot reach
 * another's context by guessing an id, and stable, because platforms lose a conversation whose user changes.
 */
export interface DerivedIds {
  /**
   * Identifies a conversation in the gateway's tables, and at platforms that accept ids from the client: 64 characters
   * `[0-9a-f]`. Ids sent by other callers or end users never lead to it.
   */
  conversationKey(name: ConversationName & { readonly generation?: number | undefined }): string
  /** 20 characters `[0-9a-f]`, the longest that HiAgent accepts. */
  endUserId(ownerId: string, endUser: string): string
  /**
   * What takes the place of the name of an end user that is erased. It is the same for each erasure of this end user, so that a
   * repetition goes on with the first one, and leads back to the name only for who has the secret and guesses the name.
   */
  erased(ownerId: string, endUser: string): ErasedNames
  /**
   * Identifies this installation in the names of its files, so that a sweep never takes another installation's files in the
   * same bucket or folder for its own: 8 characters of base64url.
   */
  installation(): string
}

/** What takes the place of the names of an end user. */
export interface ErasedNames {
  readonly pseudonym: string
  /** With it the ids are hashed that clients have given to the conversations: they may contain the name. */
  readonly conversationSalt: string
}

/** What identifies a conversation of the gateway. */
export interface ConversationName {
  readonly ownerId: string
  readonly endUser: string
  readonly agent: string
  readonly app: string
  /** The client's id. */
  readonly conversation: string
}

/** What every pseudonym begins with, so that reports show that it is one. */
export const ERASED = 'erased-'

/** Size of the cache of end users' ids. The same end users call repeatedly, and the HMAC costs more than the lookup. */
const END_USER_IDS_MAX = 1_000

export function createDerivedIds(secret: { readonly value: string }): DerivedIds {
  // Each part is preceded by its length, so that two different lists of parts never give the same input.
  const derive = (kind: string, ...parts: readonly string[]) => {
    const hmac = createHmac('sha256', secret.value).update(kind)
    for (const part of parts) hmac.update(`|${part.length}|${part}`)
    return hmac.digest('hex')
  }
  const endUserIds = new BoundedMap<string, string>(END_USER_IDS_MAX)
  return {
    conversationKey: ({ ownerId, endUser, agent, app, conversation, generation }) =>
      derive('key', ownerId, endUser, agent, app, conversation, ...(generation ? [String(generation)] : [])),
    erased: (ownerId, endUser) => ({
      pseudonym: `${ERASED}${derive('erased', ownerId, endUser).slice(0, 20)}`,
      conversationSalt: derive('erased-conversation', ownerId, endUser),
    }),
    installation: () => Buffer.from(derive('installation'), 'hex').toString('base64url').slice(0, 8),
    endUserId(ownerId, endUser) {
      // All owner ids have the same length, so the concatenation is unambiguous.
      const known = endUserIds.get(ownerId + endUser)
      if (known !== undefined) return known
      const id = derive('end-user', ownerId, endUser).slice(0, 20)
      endUserIds.set(ownerId + endUser, id)
      return id
    },
  }
}
