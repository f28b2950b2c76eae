import { useTranslations } from 'use-intl'
import type { RefusalFieldsFragment } from '../../generated/graphql.ts'

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
  not_writable: 'part',
  storage: 'part',
  search_time: 'search',
  primary: 'part',
} as const

type Limit = keyof typeof KINDS
export type LimitKind = (typeof KINDS)[Limit]

export const LIMITS = Object.keys(KINDS) as readonly Limit[]

/** The settings of limits that are not those of a window, where there is one. */
const SETTINGS: Partial<Record<Limit, string>> = {
  keys_a_day: 'apiKeys.createdPerDayMax',
  upload_space: 'uploads.bytesPerOwnerMax',
  streams_per_key: 'limits.streamsPerKey',
  readers_of_owner: 'replies.readersPerOwnerMax',
  readers_of_call: 'replies.readersPerCallMax',
  replies_of_owner: 'replies.bytesPerOwnerMax',
  waiting_of_owner: 'waitingPlaces.perOwner',
  agent_slots: 'agents.<id>.concurrency.max',
  calls_in_progress: 'chat.inFlightMax',
  reply_readers: 'chat.inFlightMax',
  reply_space: 'replies.bytesTotalMax',
  waiting_places: 'waitingPlaces.inAll',
  connections: 'connectionsMax',
}

/** The setting by which the operator changes a limit; undefined if there is none. */
export function settingOf(limit: string): string | undefined {
  const kind = kindOf(limit)
  if (kind !== 'window') return kind && SETTINGS[limit as Limit]
  return `limits.${limit.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())}.points`
}

/** Undefined for a limit that only a newer version of the gateway knows. */
export function kindOf(limit: string): LimitKind | undefined {
  return Object.hasOwn(KINDS, limit) ? KINDS[limit as Limit] : undefined
}

/** What a limit is called; one that is not known here by its own name. */
export function useLimitName(): (limit: string) => string {
  const t = useTranslations('refusals.limits')
  return (limit) => (kindOf(limit) === undefined ? limit : t(limit as Limit))
}

type Reached = Pick<RefusalFieldsFragment, 'limitPoints' | 'limitWindowSeconds' | 'limitOf'>

/** What a rate limit allows and whose it is; undefined for other limits. */
export function useAllowed(): (refusal: Reached) => string | undefined {
  const t = useTranslations('refusals')
  return ({ limitPoints: points, limitWindowSeconds: seconds, limitOf }) => {
    if (points === null || seconds === null) return undefined
    const rate = t(seconds === 60 ? 'aMinute' : 'inSeconds', { points, seconds })
    return t(limitOf === 'key' ? 'ofKey' : 'ofGateway', { rate })
  }
}
