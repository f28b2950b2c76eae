import { hash } from 'node:crypto'

/**
 * The SHA-256 of a parsed body, in hex, by which requests are distinguished: equal for the same fields in another order. It is that of
 * the JSON of the body with sorted keys.
 */
export function bodyHash(body: unknown): string {
  return hash('sha256', JSON.stringify(body, canonical) ?? 'null', 'hex')
}

function canonical(_name: string, value: unknown): unknown {
  // JSON would write null for a number beyond the range of numbers.
  if (typeof value === 'number' && !Number.isFinite(value))
    return JSON.rawJSON(value > 0 ? '1e999' : '-1e999')
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
}

declare global {
  interface JSON {
    /** A value that is written as this text. TypeScript does not know it yet. */
    rawJSON(text: string): unknown
  }
}
