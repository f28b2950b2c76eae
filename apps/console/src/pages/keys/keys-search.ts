/** What of the list of keys is in its address. */
export interface KeysSearch {
  /** Opens the dialog for a new key. */
  readonly new?: true | undefined
  /** Only keys with this in their name, prefix or id, or the username of their owner. */
  readonly search?: string | undefined
  /** Also the keys that have expired or were revoked. */
  readonly all?: true | undefined
  /** Also the keys of the playground. */
  readonly playground?: true | undefined
}

export function keysSearch(search: Record<string, unknown>): KeysSearch {
  const isSet = (name: string) => search[name] === true || search[name] === 'true'
  return {
    ...(typeof search.search === 'string' && { search: search.search }),
    ...(isSet('new') && { new: true }),
    ...(isSet('all') && { all: true }),
    ...(isSet('playground') && { playground: true }),
  }
}
