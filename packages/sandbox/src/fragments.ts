// Token-like: a few letters with the space before them, one to three Han characters, punctuation with the line breaks
// after it; else one code point, so that emoji sequences come apart as they do on real platforms.
const FRAGMENT = /[.,!?;:，。！？；：]?\n+| ?[\p{Script=Latin}\p{Nd}'’]{1,8}|\p{Script=Han}{1,3}|./gsu

/** Splits a text into the pieces in which a platform would stream it; joined, they are the text. */
export function splitFragments(text: string): readonly string[] {
  return text.match(FRAGMENT) ?? []
}
