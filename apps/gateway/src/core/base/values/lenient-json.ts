import { parseJson } from './json.ts'

const WORDS = /NaN|Infinity/

/**
 * A string, or one of the words that Python's `json.dumps` writes for numbers that JSON does not have. A string without an end counts
 * too, or each quote in it would be taken for its beginning, and the search be quadratic.
 */
const STRING_OR_WORD = /"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?$)|-?(?:NaN|Infinity)/gs

/**
 * Parses what a strict parser refuses because of a byte order mark, or because of `NaN`, `Infinity` or `-Infinity` outside of
 * strings, which become null. Returns undefined for everything else. To be called only after a strict parser, which is faster.
 */
export function parseLenientJson(text: string): unknown {
  // The mark counts as white space.
  const plain = text.trim()
  if (!WORDS.test(plain)) return plain === text ? undefined : parseJson(plain)
  return parseJson(plain.replace(STRING_OR_WORD, (found) => (found.startsWith('"') ? found : 'null')))
}
