import { describe, expect, test } from 'vitest'
import { BUILT_IN } from '#core/agents/registry.ts'
import { agentFor, callOf } from '#core/agents/transcripts.test-support.ts'

describe.each(BUILT_IN)('$platform', (adapter) => {
  test.each([
    [{ error: { message: 'slow down', code: 429 } }],
    [{ error: { message: 'slow down', code: '429' } }],
    [[{ error: { message: 'slow down', code: 429 } }]],
  ])('an error within a stream has the status that its code tells: %j', (frame) => {
    const state = adapter.start(callOf(agentFor(adapter)))
    expect(adapter.translate({ event: undefined, data: JSON.stringify(frame) }, state)).toMatchObject([
      { type: 'error', failure: { reason: 'agent_rate_limited' } },
    ])
  })
})
