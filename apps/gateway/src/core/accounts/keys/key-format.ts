import { hash } from 'node:crypto'
import { crc32 } from 'node:zlib'

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const BASE = ALPHABET.length
const SECRET_BYTES = 32
const PREFIX = 'tl_'
/** 62^43 is the first power of 62 above 2^256, and 62^6 the first above 2^32. */
const SECRET_DIGITS = 43
const CHECK_DIGITS = 6
const CHECKED_LENGTH = PREFIX.length + SECRET_DIGITS
const KEY = /^tl_[0-9A-Za-z]{49}$/

/** Number of characters of a key that its record shows. */
export const KEY_PREFIX_LENGTH = 12

/**
 * Creates a key: `tl_`, 256 random bits and the CRC-32 of both, in base 62. With the prefix and the checksum, secret scanners
 * can find keys without false positives.
 */
export function makeApiKey(randomBytes: (size: number) => Buffer): string {
  const secret = BigInt(`0x${randomBytes(SECRET_BYTES).toString('hex')}`)
  const checked = PREFIX + base62(secret, SECRET_DIGITS)
  return checked + base62(BigInt(crc32(checked)), CHECK_DIGITS)
}

/** Whether a text has the format and the checksum of a key, so that mistyped and invented keys cost no database query. */
export function isWellFormedKey(text: string): boolean {
  if (!KEY.test(text)) return false
  let check = 0
  for (const digit of text.slice(CHECKED_LENGTH)) check = check * BASE + ALPHABET.indexOf(digit)
  return check === crc32(text.slice(0, CHECKED_LENGTH))
}

/** Returns the hash under which a key is stored, in hex. A fast hash is enough, because 256 random bits cannot be guessed. */
export function hashKey(key: string): string {
  return hash('sha256', key, 'hex')
}

function base62(number: bigint, digits: number): string {
  let text = ''
  for (let rest = number; text.length < digits; rest /= BigInt(BASE)) {
    text = ALPHABET.charAt(Number(rest % BigInt(BASE))) + text
  }
  return text
}
