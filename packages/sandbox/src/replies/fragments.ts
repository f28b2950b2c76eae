// Resembles tokens: a few letters with the space before them, one to three Han characters, or line breaks
// with the punctuation before them. Anything else is a single code point, so that emoji sequences are split
// as on real platforms.
const FRAGMENT = /[.,!?;:，。！？；：]?\n+| ?[\p{Script=Latin}\p{Nd}'’]{1,8}|\p{Script=Han}{1,3}|./gsu

/** Splits a text into the pieces in which a platform would stream it. Joined, they equal the text. */
export function splitFragments(text: string): readonly string[] {
  return text.match(FRAGMENT) ?? []
}
