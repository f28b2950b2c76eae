/** What of the list of users is in its address. */
export interface UsersSearch {
  /** Only users with this in their username or id. */
  readonly search?: string | undefined
}

export function usersSearch(search: Record<string, unknown>): UsersSearch {
  const { search: text } = search
  // What is being typed may end with a space.
  return typeof text === 'string' || typeof text === 'number' ? { search: String(text) } : {}
}
