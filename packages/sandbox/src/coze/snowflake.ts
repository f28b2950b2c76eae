import { randomInt } from 'node:crypto'

/** Returns a 64-bit id of Coze as a string, because a JavaScript number would lose its last digits. */
export function snowflake(): string {
  return `7380${randomInt(100_000_000_000_000, 281_000_000_000_000)}`
}
