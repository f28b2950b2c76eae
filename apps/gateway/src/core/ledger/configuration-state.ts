import { isObject, listOf } from '#core/base/values/json.ts'

/** The name of the setting that says which configuration all processes should serve. */
export const WANTED_CONFIGURATION = 'configuration_wanted'

/** The grace period after a reload before a process counts as `different`. */
export const ROLLED_OUT_WITHIN_MS = 60_000

/**
 * Whether a process serves the configuration that was loaded last, may still come to serve it, or serves another one. The last one is
 * that of the latest reload, or of a process that has started since with another one.
 */
export const CONFIGURATION_STATES = ['current', 'pending', 'different'] as const

/** The configuration that all processes should serve, in SQL; the parameters are the name of the setting and the grace period. */
export function wantedConfiguration(setting: string, rolledOutWithinMs: string): string {
  return `wanted AS (
  SELECT value::jsonb ->> 'fingerprint' AS fingerprint,
    (value::jsonb ->> 'since')::timestamptz > now() - ${rolledOutWithinMs} * interval '1 millisecond' AS is_new
  FROM settings WHERE name = ${setting}
)`
}

/** The state of the configuration of a process, of its row `configuration`. Null while none is wanted. */
export const CONFIGURATION_STATE = `(SELECT CASE
      WHEN wanted.fingerprint = configuration ->> 'fingerprint' THEN 'current'
      WHEN is_new THEN 'pending'
      ELSE 'different'
    END FROM wanted)`

/** What a process tells the others of its configuration. */
export interface ToldConfiguration {
  /** The last reload that it has followed, or in whose time it has started. */
  readonly number: number
  /** Of all of it, secrets included. */
  readonly fingerprint: string
  /** Since when it serves this configuration, as an ISO date. */
  readonly since: string
  /** What in the file takes effect with its next start. */
  readonly needsRestart: readonly string[]
  /** Why it could not follow a reload. */
  readonly error?: string | undefined
}

/** The configuration of a process, as the others see it. */
export interface ProcessConfiguration extends Omit<ToldConfiguration, 'since' | 'error'> {
  readonly state: (typeof CONFIGURATION_STATES)[number]
  readonly since: Date
  readonly error: string | null
}

/** What a process has told, if it is of a version that tells it. */
export function toldConfiguration(value: unknown): ToldConfiguration | undefined {
  if (!isObject(value)) return undefined
  const { number, fingerprint, since, needsRestart, error } = value
  if (typeof number !== 'number' || typeof fingerprint !== 'string' || typeof since !== 'string')
    return undefined
  return {
    number,
    fingerprint,
    since,
    needsRestart: listOf(needsRestart).map(String),
    error: typeof error === 'string' ? error : undefined,
  }
}
