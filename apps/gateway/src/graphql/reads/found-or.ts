import { type ErrorReason, fail } from '#core/base/errors/errors.ts'

/** Fails with this reason if nothing is found. Not an async function, since its error would come after those of later fields. */
export function foundOr<Row>(reading: Promise<Row | null>, reason: ErrorReason): Promise<Row> {
  return reading.then((row) => row ?? fail(reason))
}
