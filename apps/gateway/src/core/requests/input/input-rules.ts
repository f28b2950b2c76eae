import { refuseField } from '#core/base/errors/errors.ts'
import type { FieldPath } from '#core/base/values/field-path.ts'

/*
 * The messages are those of a JSON schema with the same rule, so that a mistake has one text on faces with such a schema and
 * on those without.
 */

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
 * Requires a text of at most `charactersMax` characters.
 *
 * @throws Problem `invalid_request`
 */
export function requireShort(field: FieldPath, text: string, charactersMax: number): void {
  if (isLongerThan(text, charactersMax))
    refuseField(field, `expected a string of at most ${charactersMax} characters.`)
}

/**
 * Requires a list of at most `itemsMax` texts.
 *
 * @throws Problem `invalid_request`
 */
export function requireItems(field: FieldPath, items: readonly unknown[], itemsMax: number): void {
  if (items.length > itemsMax)
    refuseField(field, `expected an array of at most ${itemsMax} items, each a string.`)
}

/**
 * Requires one of these words; undefined is accepted.
 *
 * @throws Problem `invalid_request`
 */
export function requireOneOf(field: FieldPath, words: readonly string[], word: string | undefined): void {
  if (word !== undefined && !words.includes(word)) refuseField(field, `expected one of ${words.join(', ')}.`)
}
