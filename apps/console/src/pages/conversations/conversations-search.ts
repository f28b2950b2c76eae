import { textsIn, typedIn } from '../../filters/address.ts'

/** Which conversations are listed, as the address says it. */
export type ConversationsSearch = ReturnType<typeof conversationsSearch>

export function conversationsSearch(search: Record<string, unknown>) {
  // Part of a name, of the client's id or of an end user; `user` is the owner.
  return { ...typedIn(search), ...textsIn(search, ['agent', 'endUser', 'user']) }
}
