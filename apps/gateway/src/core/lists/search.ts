import { caseKey } from '#core/requests/input/case-key.ts'
import { requireShort } from '#core/requests/input/input-rules.ts'
import { Prisma } from '#generated/prisma/client.ts'

export const SEARCH_LENGTH_MAX = 100

/** Conditions in SQL for rows with a text that contains what is searched for, without regard to case. */
export interface Search {
  /** @param column - holds texts in the form of `caseKey` */
  isIn(column: string): Prisma.Sql
  /** No condition if no prefix of a key could match. */
  isInPrefix(column: string, length: number): Prisma.Sql[]
  /** No condition if no id could match. */
  isInId(column: string): Prisma.Sql[]
}

/**
 * Reads what a caller searches for; undefined if it is blank.
 *
 * @throws Problem `invalid_request`
 */
export function searchOf(text: string | undefined): Search | undefined {
  if (text === undefined) return undefined
  requireShort(['search'], text, SEARCH_LENGTH_MAX)
  if (text.trim() === '') return undefined
  // No name or username contains such a character, and PostgreSQL refuses some of them.
  if (/[\p{Cc}\p{Cs}]/u.test(text)) return NOTHING
  const key = caseKey(text)
  // Unlike LIKE, strpos knows no wildcards.
  const isIn = (column: Prisma.Sql) => Prisma.sql`strpos(${column}, ${key}) > 0`
  return {
    isIn: (column) => isIn(Prisma.raw(column)),
    isInPrefix: (column, length) =>
      key.length <= length && /^[0-9a-z_]+$/.test(key)
        ? // Not by the locale of the database, in which the small letter of I may be another.
          [isIn(Prisma.sql`lower(${Prisma.raw(column)} COLLATE "C")`)]
        : [],
    isInId: (column) =>
      key.length <= 36 && /^[0-9a-f-]+$/.test(key) ? [isIn(Prisma.sql`${Prisma.raw(column)}::text`)] : [],
  }
}

const NOTHING: Search = {
  isIn: () => Prisma.sql`false`,
  isInPrefix: () => [],
  isInId: () => [],
}
