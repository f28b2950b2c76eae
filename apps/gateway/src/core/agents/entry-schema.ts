import Type, { type TProperties } from 'typebox'

/*
 * Builders for the schemas of configuration properties. Two keywords are the gateway's own and shape the line
 * that reports an invalid value: `expected` completes the sentence "expected …" where the other keywords do
 * not describe the value well (core/input/expectation.ts), and `secret` keeps the value out of that line.
 */

export interface Annotations {
  readonly default?: unknown
  readonly expected?: string
  readonly secret?: boolean
}

/** An optional mapping. Missing properties get their defaults, also if the whole mapping is missing. */
export function section<Properties extends TProperties>(properties: Properties) {
  return Type.Object(properties, { default: {}, additionalProperties: false, expected: 'a mapping' })
}

/** A non-empty string. */
export function text(options: Annotations = {}) {
  return Type.String({ minLength: 1, expected: 'a text', ...options })
}

export function oneOf<const Values extends string[]>(
  values: readonly [...Values],
  options: Annotations = {},
) {
  return Type.Enum(values, { ...options })
}

/** For platforms without properties of their own. */
export const NO_OPTIONS = { agent: section({}), app: section({}) }
