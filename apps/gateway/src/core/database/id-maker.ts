import type { Runtime } from '#core/base/runtime.ts'

/** How many ids one reading of random bytes is for. */
const IDS_AT_ONCE = 128
const RANDOM_BYTES = 10

/** The two hexadecimal digits of each byte. */
const HEX: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/**
 * Returns a function that creates UUIDs of version 7 (RFC 9562) of a given time. Lists, turns of a conversation and ranges of
 * the ledger are ordered by them across all processes.
 *
 * Every call needs two or three of them. Node's own function takes the machine's clock, and to replace the time in its
 * result costs three times what it costs to write the whole text.
 */
export function createIdMaker({ randomBytes }: Pick<Runtime, 'randomBytes'>): (ms: number) => string {
  let random: Buffer = Buffer.alloc(0)
  let at = 0
  let prefixMs = Number.NaN
  let prefix = ''
  const byte = (index: number) => random[at + index] ?? 0
  const hex = (index: number) => HEX[byte(index)]
  return (time) => {
    const ms = Math.floor(time)
    if (ms !== prefixMs) {
      const digits = ms.toString(16).padStart(12, '0')
      prefix = `${digits.slice(0, 8)}-${digits.slice(8)}-`
      prefixMs = ms
    }
    at += RANDOM_BYTES
    if (at >= random.length) {
      random = randomBytes(IDS_AT_ONCE * RANDOM_BYTES)
      at = 0
    }
    const version = HEX[0x70 | (byte(0) & 0x0f)]
    const variant = HEX[0x80 | (byte(2) & 0x3f)]
    return `${prefix}${version}${hex(1)}-${variant}${hex(3)}-${hex(4)}${hex(5)}${hex(6)}${hex(7)}${hex(8)}${hex(9)}`
  }
}
