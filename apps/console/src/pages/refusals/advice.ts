import { kindOf, type LimitKind } from './limit-name.ts'

/** Refusals of which more can be said than what their status means. */
const BY_REASON = [
  'key_expired',
  'key_revoked',
  'key_rotated',
  'key_paused',
  'address_denied',
  'owner_suspended',
  'token_expired',
  'token_revoked',
  'api_key_required',
  'access_token_required',
  'permission_denied',
  'agent_denied',
  'role_denied',
  'unknown_agent',
  'conversation_busy',
  'too_many_keys',
  'key_ended',
  'rotation_pending',
  'too_many_new_keys',
  'agent_unavailable',
  'document_not_trusted',
] as const

/** What ends calls that were admitted. */
const OF_CALLS = {
  agent_timeout: 'platform',
  agent_unreachable: 'platform',
  agent_error: 'platform',
  agent_malformed: 'platform',
  agent_truncated: 'platform',
  agent_empty_reply: 'platform',
  agent_rate_limited: 'busy',
  agent_overloaded: 'busy',
  agent_quota: 'operator',
  agent_credentials: 'operator',
  agent_misconfigured: 'operator',
  upload_space_used_up: 'space',
  stopped: 'stopped',
  draining: 'restart',
  interrupted: 'restart',
  unavailable: 'gateway',
  internal_error: 'gateway',
} as const

export type Advice =
  | (typeof BY_REASON)[number]
  | (typeof OF_CALLS)[keyof typeof OF_CALLS]
  | LimitKind
  | 'field'
  | 'request'
  | 'credential'
  | 'permission'
  | 'notFound'
  | 'later'
  | 'client'

interface Refused {
  readonly reason: string
  readonly status: number
  /** Empty if there is none. */
  readonly limit: string
  readonly field: string | null
}

/** The name of the text that says what to do about a refusal: by its reason, its limit, its field, or else its status. */
export function adviceOf({ reason, status, limit, field }: Refused): Advice {
  const known = BY_REASON.find((name) => name === reason)
  if (known !== undefined) return known
  const kind = kindOf(limit)
  if (kind !== undefined) return kind
  if (Object.hasOwn(OF_CALLS, reason)) return OF_CALLS[reason as keyof typeof OF_CALLS]
  if (status >= 500) return 'gateway'
  if (status === 429) return 'later'
  if (field !== null) return 'field'
  if (status === 401) return 'credential'
  if (status === 403) return 'permission'
  return status === 404 ? 'notFound' : 'request'
}
