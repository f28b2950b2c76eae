/*
 * Readers for the untrusted JSON that platforms send. Each accepts any value and never throws; `String()`,
 * for example, would throw on `{"toString":1}`.
 */

export type JsonObject = Readonly<Record<string, unknown>>

/**
 * Returns undefined if the value is not a string of valid JSON; no valid JSON parses to undefined. Without a reviver, integers that a
 * number cannot hold exactly, such as ids of 64 bits, become the text of their digits.
 */
export function parseJson(text: unknown, reviver?: (name: string, value: unknown) => unknown): unknown {
  try {
    if (typeof text !== 'string') return undefined
    return JSON.parse(text, reviver ?? (LONG_NUMBER.test(text) ? exactInteger : undefined))
  } catch {
    return undefined
  }
}

/** Sixteen digits may be more than a number can hold. Strings of digits do not match, since parsing would be slower for no reason. */
const LONG_NUMBER = /[:[,]\s*-?\d{16}/

function exactInteger(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value
  const { source } = context ?? {}
  return source !== undefined && /^-?\d+$/.test(source) ? source : value
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {}
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** Returns a non-empty string, else undefined. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** Returns a non-negative safe integer, else undefined. */
export function countOf(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) : undefined
}

/**
 * Returns undefined if `JSON.stringify` throws: it recurses, so values that `JSON.parse` accepts may be too
 * deep.
 */
export function toJson(value: unknown): string | undefined {
  try {
    return JSON.stringify(value)
  } catch {
    return undefined
  }
}
