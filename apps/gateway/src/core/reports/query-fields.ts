import { refuseField } from '#core/errors.ts'
import { requireShort } from '#core/input/input-rules.ts'
import { parseTimestamp } from '#core/input/timestamp.ts'

/*
 * Fields that the queries for usage share. They are checked here because not every face has a schema in front of the
 * services, and invalid input must be rejected before it causes an error in the database.
 */

/** Parses a time, unless the face has already parsed it. */
export function timeOf(field: string, value: string | Date): Date {
  if (value instanceof Date) return value
  const time = parseTimestamp(value, { dates: true })
  return time ?? refuseField([field], `expected an ISO 8601 time with a zone, or a date, from 1970 on.`)
}

/**
 * Refuses a range that ends before it begins, which can only be a mistake. An empty range is valid: a program that reads the
 * ledger from the end of its last range on may ask twice in the same millisecond.
 *
 * @throws Problem `invalid_request`
 */
export function requireOrder(from: Date | undefined, to: Date | undefined): void {
  if (from !== undefined && to !== undefined && from > to) {
    refuseField(['from'], (nameOf) => `expected a time that is not after ${nameOf(['to'])}.`)
  }
}

export function oneOf<Word extends string>(field: string, words: readonly Word[], text: string): Word {
  return words.find((word) => word === text) ?? refuseField([field], `expected one of ${words.join(', ')}.`)
}

/** PostgreSQL texts cannot contain NUL, and no name that is searched for contains control characters or lone surrogates. */
const CONTROL_OR_SURROGATE = /[\p{Cc}\p{Cs}]/u

export function textOf(field: string, text: string, lengthMax: number): string {
  requireShort([field], text, lengthMax)
  if (CONTROL_OR_SURROGATE.test(text)) {
    refuseField([field], `must not contain control characters.`)
  }
  return text
}

export const AGENT_LENGTH_MAX = 32
export const REQUEST_ID_LENGTH_MAX = 128
export const CONVERSATION_LENGTH_MAX = 256
