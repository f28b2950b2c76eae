import { refuseField } from './errors.ts'
import type { FieldPath } from './field-path.ts'

/**
 * Whether a text has more characters than this, counted as JSON Schema counts them: a surrogate pair is one character. Since
 * a character takes at most two code units, an overlong text is recognized by its length and never split into characters.
 */
export function isLongerThan(text: string, charactersMax: number): boolean {
  if (text.length <= charactersMax) return false
  return text.length > 2 * charactersMax || [...text].length > charactersMax
}

/**
 * Requires a text of 1 to `charactersMax` characters. Call it before anything whose cost grows with the length of the text.
 *
 * @throws Problem `invalid_request`
 */
export function requireText(field: FieldPath, text: string, charactersMax: number): void {
  if (text !== '' && !isLongerThan(text, charactersMax)) return
  refuseField(field, `expected a string of 1 to ${charactersMax} characters.`)
}

/**
 * Requires one of these words; undefined is accepted.
 *
 * @throws Problem `invalid_request`
 */
export function requireOneOf(field: FieldPath, words: readonly string[], word: string | undefined): void {
  if (word !== undefined && !words.includes(word)) refuseField(field, `expected one of ${words.join(', ')}.`)
}
