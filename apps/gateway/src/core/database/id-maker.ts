import type { Runtime } from '#core/base/runtime.ts'

/** How many ids one reading of random bytes is for. */
const IDS_AT_ONCE = 128
const RANDOM_BYTES = 10
const RANDOM_DIGITS = 2 * RANDOM_BYTES

/**
 * Returns a function that creates UUIDs of version 7 (RFC 9562) of a given time. Lists, turns of a conversation and ranges of
 * the ledger are ordered by them across all processes.
 *
 * Every call needs two or three of them. Node's own function takes the machine's clock, and to replace the time in its
 * result costs three times what it costs to write the whole text.
 */
export function createIdMaker({ randomBytes }: Pick<Runtime, 'randomBytes'>): (ms: number) => string {
  /** The version, the variant and the random bits of the next ids, in hex. */
  let digits = ''
  let at = 0
  let prefixMs = Number.NaN
  let prefix = ''
  return (time) => {
    const ms = Math.floor(time)
    if (ms !== prefixMs) {
      const hex = ms.toString(16).padStart(12, '0')
      prefix = `${hex.slice(0, 8)}-${hex.slice(8)}-`
      prefixMs = ms
    }
    at += RANDOM_DIGITS
    if (at >= digits.length) {
      digits = randomDigits(randomBytes(IDS_AT_ONCE * RANDOM_BYTES))
      at = 0
    }
    return `${prefix}${digits.slice(at, at + 4)}-${digits.slice(at + 4, at + 8)}-${digits.slice(at + 8, at + 20)}`
  }
}

function randomDigits(bytes: Buffer): string {
  for (let at = 0; at < bytes.length; at += RANDOM_BYTES) {
    bytes.writeUInt8(0x70 | (bytes.readUInt8(at) & 0x0f), at)
    bytes.writeUInt8(0x80 | (bytes.readUInt8(at + 2) & 0x3f), at + 2)
  }
  return bytes.toString('hex')
}
