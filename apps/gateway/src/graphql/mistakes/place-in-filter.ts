import { Problem } from '#core/errors/errors.ts'
import { inputNamesOf } from './input-places.ts'

/**
 * Names a mistake in the filter of a list whose total is counted: the count is read by a field of the page, which has no
 * arguments in which a mistake could be found.
 */
export function placeInFilter(error: unknown): never {
  const field = error instanceof Problem ? error.field : undefined
  throw error instanceof Problem && field !== undefined && field[0] !== 'timezone'
    ? error.at(['filter', ...inputNamesOf(field)])
    : error
}
