/**
 * How the keys look that the playground makes for itself, so that the list of keys can leave them out. Their names begin with
 * the prefix.
 */
export const PLAYGROUND_KEYS = {
  namePrefix: 'playground ',
  description: "Made by the console's playground",
} as const

/** True for a key that the playground has made, and not one that a user has given a similar name. */
export function isPlaygroundKey({
  name,
  description,
}: {
  readonly name: string
  readonly description: string
}): boolean {
  return name.startsWith(PLAYGROUND_KEYS.namePrefix) && description === PLAYGROUND_KEYS.description
}
