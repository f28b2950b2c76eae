import { validate } from 'uuid'

/**
 * The ids that can be ids of rows, each once. Statements that look up several ids leave out the others, because an invalid
 * UUID would be a database error.
 */
export function validIds(ids: readonly string[]): string[] {
  return [...new Set(ids)].filter((id) => validate(id))
}
