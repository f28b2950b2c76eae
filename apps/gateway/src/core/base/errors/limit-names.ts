/**
 * What refuses requests for now: a limit that is reached, or the part that is `unavailable`. They are labels of metrics and
 * part of the record of refusals, so the list is finite.
 */
export const LIMIT_NAMES = [
  // Points in a window, by their names in core/limits/limits.ts.
  'chat',
  'upload',
  'agents',
  'reports',
  'calls',
  'reads',
  'writes',
  'admin_writes',
  'login',
  'login_address',
  'successful_logins',
  'refused_keys',
  'refused_documents',
  // What one caller may have at a time.
  'quota',
  'keys_a_day',
  'upload_space',
  'streams_per_key',
  'calls_of_owner',
  'readers_of_owner',
  'readers_of_call',
  'replies_of_owner',
  'subscriptions_of_owner',
  'subscriptions_per_credential',
  'waiting_of_owner',
  'turns_of_owner',
  'operation_size',
  // What all callers may have at a time.
  'agent_slots',
  'calls_in_progress',
  'reply_readers',
  'reply_space',
  'subscriptions',
  'waiting_places',
  'turns',
  'connections',
  'memory',
  // Parts that do not answer, not in time, or only what reads.
  'starting',
  'draining',
  'database',
  'disk_full',
  'not_writable',
  'storage',
  'search_time',
  'primary',
  'other',
] as const
export type LimitName = (typeof LIMIT_NAMES)[number]

/** What a rate limit allows, and whether it is the gateway's or a lower one of the key. */
export interface LimitReached {
  readonly points: number
  readonly windowSeconds: number
  readonly of: 'gateway' | 'key'
}
