import Type, { type TProperties } from 'typebox'

/*
 * Builders for the schemas of configuration properties. Four keywords are the gateway's own. Two shape the line that reports
 * an invalid value: `expected` completes the sentence "expected …" where the other keywords do not describe the value well
 * (core/requests/input/expectation.ts), and `secret` keeps the value out of that line. `whenAbsent` is for the reference of the configuration,
 * and `perDeployment` says what deployments may replace.
 */

export interface Annotations {
  readonly default?: unknown
  readonly expected?: string
  readonly secret?: boolean
  /** What the setting does, in the words of docs/settings.md, which is written from it: Markdown on one line. */
  readonly description?: string
  /** What applies instead of a setting that is absent and has no fixed default. */
  readonly whenAbsent?: string
  readonly examples?: readonly unknown[]
  /** Whether a deployment of the agent may replace a property of its platform: an id or a model, never what the agent is. */
  readonly perDeployment?: true
}

/** An optional mapping. Missing properties get their defaults, also if the whole mapping is missing. */
export function section<Properties extends TProperties>(properties: Properties, options: Annotations = {}) {
  return Type.Object(properties, {
    default: {},
    additionalProperties: false,
    expected: 'a mapping',
    ...options,
  })
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
