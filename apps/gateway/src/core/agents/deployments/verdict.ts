import type { Failure } from '#core/agents/events.ts'
import type { ErrorReason } from '#core/base/errors/errors.ts'

/**
 * What the end of an attempt says about its deployment. `unreachable`: it cannot be connected to, whatever the request is.
 * `failed`: it does not work, at least for this request. `credential`: it works, but the credential has to rest. `rest`: the
 * credential has to rest, and nothing is known about the deployment. `works`: it works. `none`: nothing is known.
 */
export type Verdict = 'unreachable' | 'failed' | 'credential' | 'rest' | 'works' | 'none'

/** How an attempt has ended before the first event of its reply, which would already have shown that the deployment works. */
export interface AttemptEnd {
  /** Undefined if the client or the gateway has ended the attempt. */
  readonly failure: Failure | undefined
  /**
   * The HTTP status of the platform's response to the chat itself; undefined if none has come, as when a call before the chat has
   * failed, which creates a conversation or uploads a file.
   */
  readonly httpStatus: number | undefined
}

/** No response came, or one that the platform's API cannot have sent. */
const OF_DEPLOYMENT: ReadonlySet<ErrorReason> = new Set([
  'agent_timeout',
  'agent_malformed',
  'agent_truncated',
])

const OF_CREDENTIAL: ReadonlySet<ErrorReason> = new Set([
  'agent_credentials',
  'agent_quota',
  'agent_rate_limited',
])

/** What the platform says about one call, its conversation or its app. The gateway uses some of these reasons as well. */
const OF_CALL: ReadonlySet<ErrorReason> = new Set([
  'agent_rejected_input',
  'content_filtered',
  'agent_misconfigured',
  'agent_empty_reply',
  'agent_requires_action',
  'app_not_found',
  'conversation_not_found',
  'conversation_busy',
  'pause_over',
])

/**
 * Judges the end of an attempt. A failure that the platform reports within a run shows that it works; otherwise the broken
 * workflow of one caller would close the deployment to all.
 */
export function verdictOf({ failure, httpStatus }: AttemptEnd): Verdict {
  if (failure === undefined) return 'none'
  const { reason, isPage } = failure
  // What a caller asks for may be longer than the gateway takes.
  if (failure.isTooLarge === true) return 'works'
  if (wasNeverConnected(failure)) return 'unreachable'
  const status = httpStatus ?? failure.platformStatus
  if (isOfSomebodyElse(failure, status)) return OF_CREDENTIAL.has(reason) ? 'rest' : 'none'
  // A run that was stopped at the platform is truncated as well, and the platform says so by its own word.
  if (OF_DEPLOYMENT.has(reason)) return failure.platformCode === undefined ? 'failed' : 'works'
  if (OF_CREDENTIAL.has(reason)) return 'credential'
  if (reason === 'agent_error') return isPage === true || (status ?? 0) >= 500 ? 'failed' : 'works'
  // Without a response it is the gateway itself that has refused the call.
  return OF_CALL.has(reason) && status !== undefined ? 'works' : 'none'
}

/** A time limit says so only if it has passed before the request was begun. */
function wasNeverConnected({ reason, turn }: Failure): boolean {
  return reason === 'agent_unreachable' || (reason === 'agent_timeout' && turn === 'none')
}

/**
 * Whether a refusal is not in the platform's own JSON: a redirect, a proxy's text or a firewall's page. A caller can cause one by
 * its input, and a proxy sends one whether or not the platform works.
 */
function isOfSomebodyElse({ reason, isPage }: Failure, status = 0): boolean {
  if (status >= 300 && status < 400) return true
  return status >= 400 && status < 500 && (isPage === true || OF_DEPLOYMENT.has(reason))
}
