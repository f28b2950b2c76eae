import { useTranslations } from 'use-intl'

/**
 * What refuses requests for now, by whom it waits for: `window` for requests in a time, `caller` for what one caller may have at a
 * time, `everyone` for what all may have together, `part` for a part of the gateway that does not answer.
 */
const KINDS = {
  chat: 'window',
  upload: 'window',
  agents: 'window',
  reports: 'window',
  calls: 'window',
  reads: 'window',
  writes: 'window',
  admin_writes: 'window',
  login: 'window',
  login_address: 'window',
  successful_logins: 'window',
  refused_keys: 'window',
  refused_documents: 'window',
  quota: 'quota',
  keys_a_day: 'caller',
  upload_space: 'space',
  streams_per_key: 'caller',
  calls_of_owner: 'caller',
  readers_of_owner: 'caller',
  readers_of_call: 'caller',
  replies_of_owner: 'caller',
  subscriptions_of_owner: 'caller',
  subscriptions_per_credential: 'caller',
  waiting_of_owner: 'caller',
  turns_of_owner: 'caller',
  operation_size: 'size',
  agent_slots: 'everyone',
  calls_in_progress: 'everyone',
  reply_readers: 'everyone',
  reply_space: 'everyone',
  subscriptions: 'everyone',
  waiting_places: 'everyone',
  turns: 'everyone',
  connections: 'everyone',
  memory: 'everyone',
  starting: 'restart',
  draining: 'restart',
  database: 'part',
  disk_full: 'part',
  storage: 'part',
  search_time: 'search',
  primary: 'part',
} as const

type Limit = keyof typeof KINDS
export type LimitKind = (typeof KINDS)[Limit]

export const LIMITS = Object.keys(KINDS) as readonly Limit[]

/** Undefined for a limit that only a newer version of the gateway knows. */
export function kindOf(limit: string): LimitKind | undefined {
  return Object.hasOwn(KINDS, limit) ? KINDS[limit as Limit] : undefined
}

/** What a limit is called; one that is not known here by its own name. */
export function useLimitName(): (limit: string) => string {
  const t = useTranslations('refusals.limits')
  return (limit) => (kindOf(limit) === undefined ? limit : t(limit as Limit))
}
