import type { Pause } from '#core/agents/pause.ts'

/** What one run may ask. It is stored, and read again with every message of its conversation until it is answered. */
const QUESTION_BYTES_MAX = 64 * 1024
const OPTIONS_MAX = 100
const FIELDS_MAX = 100
/** Of all pauses of a reply together, with what the platform needs in order to go on. */
const BYTES_MAX = 256 * 1024

/** The bound that the pauses of one reply exceed, for the message of its failure; undefined if they are within all of them. */
export function exceededPauseBound(
  { question, options, fields }: Pause,
  allBytes: number,
): string | undefined {
  if (Buffer.byteLength(question) > QUESTION_BYTES_MAX) return `${QUESTION_BYTES_MAX} bytes of text`
  if (options.length > OPTIONS_MAX) return `${OPTIONS_MAX} options`
  if (fields.length > FIELDS_MAX) return `${FIELDS_MAX} fields`
  return allBytes > BYTES_MAX ? `${BYTES_MAX} bytes in all` : undefined
}
