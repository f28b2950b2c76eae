import type { LimitReached } from '#core/base/errors/limit-names.ts'

/** The rule of a limit of requests in a time. */
type Rule = Pick<LimitReached, 'points' | 'windowSeconds'>

/** Calls of which a key may have a limit of its own. */
export type OwnLimit = 'chat' | 'upload'

/** The highest limits of their own that keys may have, in points a minute; {@link mostPerKey} has the defaults. */
export interface MaxPerKey {
  readonly maxPerKey?: { readonly [Name in OwnLimit]?: number | undefined }
}

const TIMES_THE_RULE = 10

/** The highest limit of its own that an administrator may give a key, in points a minute: ten times that of all keys by default. */
export function mostPerKey(rules: Readonly<Record<OwnLimit, Rule>> & MaxPerKey, name: OwnLimit): number {
  return rules.maxPerKey?.[name] ?? TIMES_THE_RULE * perMinute(rules[name])
}

/** A limit in points a minute, as the records of keys show it; at least 1, because every limit lets at least one call through. */
export function perMinute({ points, windowSeconds }: Rule): number {
  return Math.max(1, Math.floor((points * 60) / windowSeconds))
}
