/*
 * Arrays in PostgreSQL's binary format, for statements with thousands of values. `pg` sends a Buffer as it is and any other array
 * as text, which for `bytea[]` is twice as long and costs both sides several times as much. A parameter of these needs its cast
 * in the statement, such as `$1::uuid[]`.
 */

const OID = { uuid: 2950, int4: 23, bytea: 17 } as const
type ElementType = keyof typeof OID

const HEAD_BYTES = 20
const LENGTH_BYTES = 4
const UUID_BYTES = 16
const INT4_BYTES = 4
/** The length that stands for NULL. */
const NULL_LENGTH = -1

/** @throws Error if one of them is no UUID */
export function uuidArray(ids: readonly string[]): Buffer {
  const { array, at } = begin('uuid', ids.length, ids.length * (LENGTH_BYTES + UUID_BYTES))
  let offset = at
  for (const id of ids) {
    offset = array.writeInt32BE(UUID_BYTES, offset)
    if (array.write(id.replaceAll('-', ''), offset, 'hex') !== UUID_BYTES) throw new Error('not a UUID')
    offset += UUID_BYTES
  }
  return array
}

export function int4Array(numbers: readonly number[]): Buffer {
  const { array, at } = begin('int4', numbers.length, numbers.length * (LENGTH_BYTES + INT4_BYTES))
  let offset = at
  for (const number of numbers) {
    offset = array.writeInt32BE(INT4_BYTES, offset)
    offset = array.writeInt32BE(number, offset)
  }
  return array
}

export function byteaArray(values: readonly (Uint8Array | null)[]): Buffer {
  const size = values.reduce((sum, value) => sum + LENGTH_BYTES + (value?.length ?? 0), 0)
  const { array, at } = begin('bytea', values.length, size)
  let offset = at
  for (const value of values) {
    offset = array.writeInt32BE(value?.length ?? NULL_LENGTH, offset)
    if (value === null) continue
    array.set(value, offset)
    offset += value.length
  }
  return array
}

/** Writes the head: dimensions, a flag that the server ignores, the type of the elements; then the size and the first index. */
function begin(type: ElementType, count: number, bytes: number): { array: Buffer; at: number } {
  const array = Buffer.allocUnsafe(HEAD_BYTES + bytes)
  let at = array.writeInt32BE(1, 0)
  at = array.writeInt32BE(0, at)
  at = array.writeInt32BE(OID[type], at)
  at = array.writeInt32BE(count, at)
  return { array, at: array.writeInt32BE(1, at) }
}
