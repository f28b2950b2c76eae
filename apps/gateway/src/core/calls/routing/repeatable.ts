import type { Failure } from '#core/agents/events.ts'
import type { ErrorReason } from '#core/base/errors/errors.ts'

/** Refusals of a credential, its quota or its app, which the same credential would get again. */
const OF_CREDENTIAL: ReadonlySet<ErrorReason> = new Set([
  'agent_credentials',
  'agent_quota',
  'agent_misconfigured',
  'app_not_found',
])

/** What the caller or the conversation has caused, which every deployment would answer alike. */
const OF_CALL: ReadonlySet<ErrorReason> = new Set([
  'agent_rejected_input',
  'content_filtered',
  'conversation_not_found',
  'conversation_busy',
  'agent_requires_action',
  'agent_empty_reply',
])

/** Where a call may be sent again after a failure: nowhere, with another credential only, or anywhere. */
export type Repetition = 'never' | 'other_credential' | 'anywhere'

export function repetitionOf({ reason }: Failure): Repetition {
  if (OF_CREDENTIAL.has(reason)) return 'other_credential'
  return OF_CALL.has(reason) || !reason.startsWith('agent_') ? 'never' : 'anywhere'
}
