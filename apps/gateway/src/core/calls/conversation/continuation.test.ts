import { expect, test } from 'vitest'
import { agentOf } from '#core/agents/transcripts.test-support.ts'
import type { Call } from '#core/calls/request/call.ts'
import type { Sql } from '#core/database/database.ts'
import { type ContinuationDeps, continuedConversation } from './continuation.ts'

/** A database that knows no calls. */
const EMPTY = { query: async () => [] } as unknown as Sql

test('an agent without memory has no state to go on from, unless its run waits', async () => {
  const agent = agentOf('dify', { id: 'workflow', options: { mode: 'workflow' } })
  const call = { agent } as unknown as Call
  const earlier = { callId: '01890a5d-ac96-774b-bcce-b302099a8057', field: ['previousResponseId'] }
  const continued = continuedConversation({ sql: EMPTY } as ContinuationDeps, call, 'owner', {
    kind: 'continued',
    after: [earlier],
    id: '',
  })
  await expect(continued).rejects.toMatchObject({
    reason: 'previous_response_not_found',
    field: ['previousResponseId'],
  })
})
