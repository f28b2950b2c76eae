import type { KeyQuery } from '../../../generated/graphql.ts'

type Secret = NonNullable<KeyQuery['apiKey']>['secrets'][number]

/** A program that runs once a day is no sooner known to have the new secret. */
const IDLE_MS = 86_400_000

/**
 * Whether the secret before the present one seems to be needed: `spare` as long as nothing uses the present one, `used` where it was
 * used within a day, or else `idle`, or `unused` where it never was.
 */
export function oldSecret(
  present: Pick<Secret, 'lastUsedAt'>,
  { lastUsedAt }: Pick<Secret, 'lastUsedAt'>,
  now: Date,
): 'spare' | 'used' | 'idle' | 'unused' {
  if (present.lastUsedAt === null) return 'spare'
  if (lastUsedAt === null) return 'unused'
  return now.getTime() - new Date(lastUsedAt).getTime() < IDLE_MS ? 'used' : 'idle'
}
