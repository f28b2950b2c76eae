import { refuseField } from './errors.ts'
import type { FieldPath } from './field-path.ts'

/**
 * Whether a text has more characters than this, counted as JSON Schema counts them: a pair of surrogates is one. A long
 * text costs no more than a short one, because a character takes at most two code units.
 */
export function isLongerThan(text: string, charactersMax: number): boolean {
  if (text.length <= charactersMax) return false
  return text.length > 2 * charactersMax || [...text].length > charactersMax
}

/** A text of 1 to so many characters, as it is before anything costly is done with it. */
export function requireText(field: FieldPath, text: string, charactersMax: number): void {
  if (text !== '' && !isLongerThan(text, charactersMax)) return
  refuseField(field, `expected a string of 1 to ${charactersMax} characters.`)
}

/** Absent words pass. */
export function requireOneOf(field: FieldPath, words: readonly string[], word: string | undefined): void {
  if (word !== undefined && !words.includes(word)) refuseField(field, `expected one of ${words.join(', ')}.`)
}
