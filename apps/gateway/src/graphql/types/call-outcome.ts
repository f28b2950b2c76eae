import { OUTCOMES, type CallOutcome as Outcome } from '#core/ledger/call-kinds.ts'
import { enumOf, openEnumOf } from '../enum-of.ts'

const OUTCOME_TEXTS: Readonly<Record<Outcome, string>> = {
  done: 'With a complete reply.',
  client_gone: 'The client left before the end.',
  upstream_error: 'The platform failed.',
  timeout: 'The platform took too long.',
  drained: 'The gateway shut down.',
  interrupted: 'The process of the gateway died.',
  rejected:
    'It was refused for a reason of the caller after it had been admitted, or while it ran its key was revoked or expired, or the owner of the key was suspended.',
}

export const CallOutcome = openEnumOf('CallOutcome', OUTCOMES, {
  description: 'How a call ended.',
  values: OUTCOME_TEXTS,
})

export const CallState = enumOf('CallState', [...OUTCOMES, 'running', 'failed'], {
  description: 'Whether a call still runs, or how it ended, in filters.',
  values: {
    ...OUTCOME_TEXTS,
    running: 'It has not ended. Reports count only calls that have ended and do not take it.',
    failed: 'In any way that counts as a failure: `UPSTREAM_ERROR`, `TIMEOUT`, `DRAINED` or `INTERRUPTED`.',
  },
})
