import { createHmac } from 'node:crypto'

/**
 * The ids under which callers are known at a platform. They are derived, so that nobody reaches another's context by
 * guessing an id, and stable, because platforms lose a conversation whose user changes.
 */
export interface DerivedIds {
  /** What tells one conversation from all others, in our tables and at platforms that take ids as they are: 64 characters `[0-9a-f]`. */
  conversationKey(parts: readonly string[]): string
  /** 20 characters `[0-9a-f]`: HiAgent takes no longer ones. */
  endUserId(ownerId: string, endUser: string): string
}

/** End users come back: deriving an id costs more than all else that is done with it. */
const REMEMBERED_MAX = 1_000

export function createDerivedIds(secret: () => string): DerivedIds {
  // The parts are told apart by their lengths: no text in one of them can pass for another's.
  const derive = (kind: string, ...parts: readonly string[]) => {
    const hmac = createHmac('sha256', secret()).update(kind)
    for (const part of parts) hmac.update(`|${part.length}|${part}`)
    return hmac.digest('hex')
  }
  const endUserIds = new Map<string, string>()
  return {
    conversationKey: (parts) => derive('key', ...parts),
    endUserId(ownerId, endUser) {
      // Owners' ids are all of one length.
      const known = endUserIds.get(ownerId + endUser)
      if (known !== undefined) return known
      const id = derive('end-user', ownerId, endUser).slice(0, 20)
      if (endUserIds.size >= REMEMBERED_MAX) endUserIds.clear()
      endUserIds.set(ownerId + endUser, id)
      return id
    },
  }
}
