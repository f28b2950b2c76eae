import Type, { type TProperties } from 'typebox'

/*
 * How the properties of a configuration are described. Two keywords are the gateway's own, for the line that a mistake is
 * reported with: `expected` completes the sentence "expected …" where the other keywords do not say it well
 * (core/expectation.ts), and `secret` keeps the value out of it.
 */

export interface Annotations {
  readonly default?: unknown
  readonly expected?: string
  readonly secret?: boolean
}

/** A mapping that may be left out; a mapping that is given gets the defaults of what it lacks. */
export function section<Properties extends TProperties>(properties: Properties) {
  return Type.Object(properties, { default: {}, additionalProperties: false, expected: 'a mapping' })
}

/** A text that is not empty. */
export function text(options: Annotations = {}) {
  return Type.String({ minLength: 1, expected: 'a text', ...options })
}

export function oneOf<const Values extends string[]>(
  values: readonly [...Values],
  options: Annotations = {},
) {
  return Type.Enum(values, { ...options })
}

/** For platforms that need nothing in an entry beyond what every platform needs. */
export const NO_OPTIONS = { agent: section({}), app: section({}) }
