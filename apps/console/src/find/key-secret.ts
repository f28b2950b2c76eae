/** As many characters of an API key as lists show. They identify the key and are no secret; what follows them is. */
const PREFIX_LENGTH = 12

/** Keys begin with `tl_` and have 52 characters. A shorter one may be a damaged copy, and what is missing can be guessed. */
const KEY = /tl_[0-9A-Za-z]{10,}/

/** The prefix of the API key that a text contains; undefined if it contains none, or no more than the prefix of one. */
export function keyPrefixIn(text: string): string | undefined {
  return KEY.exec(text)?.[0].slice(0, PREFIX_LENGTH)
}

/**
 * The text as it may be searched for and kept in an address: instead of a text with an API key, such as one that somebody has
 * found and pasted, only the prefix of the key.
 */
export function withoutKeySecret(text: string): string {
  return keyPrefixIn(text) ?? text
}
