/** As many characters of an API key as lists show. They identify the key and are no secret; what follows them is. */
const PREFIX_LENGTH = 12

/**
 * Keys begin with `tl_` and have 52 characters. A shorter one may be a damaged copy, and what is missing can be guessed. Within a
 * word, such as `etl_transformation`, only what is about as long as a key is one; the escapes of addresses are no part of a word.
 * A copy from a document, a mail or a terminal may be wrapped, so a text of that length may contain spaces and line breaks.
 */
const KEY =
  /(?:(?<![0-9A-Za-z])|(?<=%[0-9A-Fa-f]{2}))tl_(?:[0-9A-Za-z]{10,}|(?:[0-9A-Za-z][\s\\\u00ad\u200b\u2060]*){30,})|tl_[0-9A-Za-z]{30,}/

/** The prefix of the API key that a text contains; undefined if it contains none, or no more than the prefix of one. */
export function keyPrefixIn(text: string): string | undefined {
  return KEY.exec(text)?.[0]
    .replace(/[^0-9A-Za-z_]/g, '')
    .slice(0, PREFIX_LENGTH)
}

/** The address with only the prefixes of the API keys that it contains anywhere. */
export function addressWithoutKeySecrets(href: string): string {
  return href.replaceAll(new RegExp(KEY, 'g'), (key) => keyPrefixIn(key) ?? key)
}

/**
 * The text as it may be searched for and kept in an address: instead of a text with an API key, such as one that was
 * found and pasted, only the prefix of the key.
 */
export function withoutKeySecret(text: string): string {
  return keyPrefixIn(text) ?? text
}
