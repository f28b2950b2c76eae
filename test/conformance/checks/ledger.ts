import { ERRORS, type ErrorReason } from '@trunkline/gateway/src/core/base/errors/errors.ts'
import { expect } from 'vitest'
import type { CallResult } from '../client.ts'
import type { LedgerRow } from '../gateway-with-emulators.ts'

/** Results that clients received for the calls of one dialect, and the ledger's rows after the gateway has stopped. */
export interface Books {
  readonly results: ReadonlyMap<string, CallResult>
  readonly rows: readonly LedgerRow[]
}

export type LedgerCheck = (books: Books) => void

export const LEDGER = {
  'LEDGER-01'({ results, rows }) {
    expect(rows.length).toBeGreaterThan(0)
    expect(rows.map(({ request_id }) => request_id).sort()).toEqual([...results.keys()].sort())
  },

  'LEDGER-02'({ results, rows }) {
    for (const { request_id, outcome, reason } of rows) {
      const wanted = results.get(request_id)
      expect([wanted?.question, outcome, reason]).toEqual([
        wanted?.question,
        outcomeOf(wanted),
        wanted?.reason ?? null,
      ])
    }
  },

  'LEDGER-03'({ results, rows }) {
    for (const { request_id, outcome, prompt_tokens, completion_tokens, total_tokens } of rows) {
      if (outcome !== 'done') continue
      const { usage } = results.get(request_id) ?? {}
      expect([prompt_tokens, completion_tokens, total_tokens]).toEqual([
        usage?.prompt_tokens ?? null,
        usage?.completion_tokens ?? null,
        usage?.total_tokens ?? null,
      ])
    }
  },

  'LEDGER-04'({ rows }) {
    const refusals = rows.filter(({ reason }) => PLATFORM_REFUSALS.has(reason))
    expect(refusals.length).toBeGreaterThan(0)
    expect(refusals.filter(({ platform_status }) => platform_status === null)).toEqual([])
  },
} satisfies Record<string, LedgerCheck>

/** Reasons that imply a response of the platform. */
const PLATFORM_REFUSALS: ReadonlySet<string | null> = new Set([
  'agent_rejected_input',
  'content_filtered',
  'agent_rate_limited',
  'agent_credentials',
  'agent_quota',
  'agent_misconfigured',
  'agent_error',
  'agent_malformed',
])

function outcomeOf(result: CallResult | undefined): string {
  if (result?.left === true) return 'client_gone'
  if (result?.reason === undefined) return 'done'
  if (result.reason === 'agent_timeout') return 'timeout'
  return ERRORS[result.reason as ErrorReason].status < 500 ? 'rejected' : 'upstream_error'
}
