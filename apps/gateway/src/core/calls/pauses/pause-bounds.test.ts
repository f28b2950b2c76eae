import { expect, test } from 'vitest'
import type { ReplyState } from '#core/agents/adapter.ts'
import type { ChatEvent } from '#core/agents/events.ts'
import { pauseEvent } from '#core/agents/pause.test-support.ts'
import type { Pause } from '#core/agents/pause.ts'
import { agentOf } from '#core/agents/transcripts.test-support.ts'
import { systemRuntime } from '#core/base/runtime.ts'
import { ReplyContent } from '#core/calls/reply-content.ts'

const KIB = 1_024
const many = (count: number) => Array.from({ length: count }, (_, n) => String(n))
const withPause = (more: Partial<Pause>): ChatEvent => {
  const { type, pause } = pauseEvent('Sure?')
  return { type, pause: { ...pause, ...more } }
}
const fieldsOf = (count: number) =>
  many(count).map((name) => ({ name, type: 'text', required: false }) as const)

function read(events: readonly ChatEvent[]) {
  const content = new ReplyContent(
    { runtime: systemRuntime, streamBytesMax: 1_024 * KIB },
    agentOf('langgraph'),
  )
  const batch: ChatEvent[] = []
  content.sift([...events, { type: 'end', reason: 'stop' }], batch)
  content.close(batch, {}, {} as ReplyState)
  return { content, batch }
}

test.each([
  ['a question', [pauseEvent('q'.repeat(64 * KIB))], [pauseEvent('q'.repeat(64 * KIB + 1))]],
  ['a question in bytes', [pauseEvent('é'.repeat(32 * KIB))], [pauseEvent('é'.repeat(32 * KIB + 1))]],
  ['options', [pauseEvent('Which?', many(100))], [pauseEvent('Which?', many(101))]],
  ['fields', [withPause({ fields: fieldsOf(100) })], [withPause({ fields: fieldsOf(101) })]],
  [
    'what the platform needs to go on',
    [withPause({ resume: { passed: 'p'.repeat(255 * KIB) } })],
    [withPause({ resume: { passed: 'p'.repeat(256 * KIB) } })],
  ],
  [
    'all pauses of a reply',
    [1, 2, 3, 4].map(() => pauseEvent('q'.repeat(63 * KIB))),
    [1, 2, 3, 4, 5].map(() => pauseEvent('q'.repeat(63 * KIB))),
  ],
])('%s up to the bound are a pause, and more fail the reply', (_what, within, beyond) => {
  const { content } = read(within)
  expect([content.isComplete, content.pauses?.length]).toEqual([true, within.length])
  const excess = read(beyond)
  expect(excess.content.failure).toMatchObject({ reason: 'agent_malformed', isTooLarge: true })
  expect(excess.batch.filter(({ type }) => type === 'end')).toEqual([])
})

test('a pause that is nested too deeply to be stored fails the reply', () => {
  let nested: unknown = 1
  for (let depth = 0; depth < 100_000; depth += 1) nested = [nested]
  const { content } = read([withPause({ resume: { values: nested } })])
  expect(content.failure).toMatchObject({ reason: 'agent_malformed' })
})
