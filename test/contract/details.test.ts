import type { ChatEvent } from '@trunkline/gateway/src/core/agents/events.ts'
import { offeredPause } from '@trunkline/gateway/src/core/agents/pause.ts'
import { PLATFORMS } from '@trunkline/gateway/src/core/agents/registry.ts'
import {
  adapterOf,
  agentOf,
  callOf,
  eventsOf,
  everyOptionsOf,
  read,
  transcriptsOf,
} from '@trunkline/gateway/src/core/agents/transcripts.test-support.ts'
import { detailsOf } from '@trunkline/gateway/src/core/calls/reading/detail-of.ts'
import { describe, expect, test } from 'vitest'
import { CONTRACT } from '../support/contract/contract.ts'
import { replyCheck } from '../support/contract/schema-check.ts'

const checkDetail = replyCheck(CONTRACT, ['components', 'schemas', 'DetailEvent'])
const checkPause = replyCheck(CONTRACT, ['components', 'schemas', 'Pause'])

/** What is wrong with the details and the pauses of the events, as clients receive them. */
function problemsOf(events: readonly ChatEvent[]): readonly string[] {
  const received = (value: unknown): unknown => JSON.parse(JSON.stringify(value))
  const pauses = events.flatMap((event) => (event.type === 'pause' ? [offeredPause('id', event.pause)] : []))
  return [
    ...events.flatMap(detailsOf).flatMap((detail) => checkDetail(received(detail)) ?? []),
    ...pauses.flatMap((pause) => checkPause(received(pause)) ?? []),
  ]
}

/** Stands for a value that is nested too deep for `JSON.stringify`. */
const DEEP = '@deep@'
const DEEP_JSON = '['.repeat(20_000) + ']'.repeat(20_000)
const ODD: readonly unknown[] = [
  null,
  true,
  7,
  -1.5,
  1e308,
  '',
  'odd',
  [],
  [null, [7]],
  {},
  { a: null },
  DEEP,
]

/** Fields that decide of which kind an event is, so that another value makes it another event. */
const KINDS = new Set(['event', 'type'])

/** The value with each nested value in turn replaced by each odd one. */
function* swapped(json: unknown, isOutermost = true): Generator<unknown> {
  if (!isOutermost) yield* ODD
  if (typeof json !== 'object' || json === null) return
  for (const [name, value] of Object.entries(json)) {
    if (isOutermost && KINDS.has(name)) continue
    for (const other of swapped(value, false)) {
      yield Array.isArray(json) ? json.with(Number(name), other) : { ...json, [name]: other }
    }
  }
}

/**
 * The form of a value: the names and kinds of what it consists of. Transcripts have hundreds of events that differ in their texts
 * alone, of which one is enough; a soak run takes them all.
 */
function formOf(value: unknown, name = ''): unknown {
  if (process.env.SOAK || (KINDS.has(name) && typeof value === 'string')) return value
  if (Array.isArray(value)) return [...new Set(value.map((each) => JSON.stringify(formOf(each))))].sort()
  if (typeof value !== 'object' || value === null) return value === null ? null : typeof value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, formOf(each, key)]))
}

describe.each(PLATFORMS.names)('%s', (platform) => {
  const adapter = adapterOf(platform)
  const transcripts = transcriptsOf(platform)
  const calls = everyOptionsOf(adapter).map((options) => callOf(agentOf(platform, { options })))

  test('the details and pauses of every transcript are valid by the contract', () => {
    for (const call of calls) {
      for (const transcript of transcripts) {
        expect(problemsOf(read(adapter, call, transcript)), transcript.name).toEqual([])
      }
    }
  })

  test('an odd value in an event leaves its details valid, and fails no call that the event did not fail', () => {
    const seen = new Set<string>()
    for (const call of calls) {
      for (const { event, data } of transcripts.flatMap(({ bytes }) => eventsOf([bytes]))) {
        if (!/^[[{]/.test(data)) continue
        const translate = (text: string) => adapter.translate({ event, data: text }, adapter.start(call))
        let json: unknown
        try {
          json = JSON.parse(data)
        } catch {
          continue
        }
        const key = JSON.stringify([call.agent.options, event, formOf(json)])
        if (seen.has(key)) continue
        seen.add(key)
        const events = translate(data)
        const isProgress = events.length > 0 && events.every(({ type }) => type === 'detail')
        for (const other of swapped(json)) {
          const text = JSON.stringify(other).replaceAll(`"${DEEP}"`, DEEP_JSON)
          const translated = translate(text)
          const problems = problemsOf(translated)
          if (problems.length > 0) expect.fail(`${problems.join()}: ${JSON.stringify(other)}`)
          if (isProgress && translated.some(({ type }) => type === 'error'))
            expect.fail(JSON.stringify(other))
        }
      }
    }
  })
})
