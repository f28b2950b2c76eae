import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { objectOf, parseJson } from '#core/agents/translate/json.ts'
import type { UpstreamEvent } from './adapter.ts'
import { isChatEvent } from './chat-events.test-support.ts'
import { BUILT_IN } from './registry.ts'
import {
  agentFor,
  bodyOf,
  callOf,
  eventsOf,
  everyOptionsOf,
  transcriptsOf,
} from './transcripts.test-support.ts'

const HOSTILE: readonly unknown[] = [
  null,
  '',
  '\u0000\ud800',
  -1,
  1e308,
  [],
  [null],
  {},
  // Throws where it is made a string or a number.
  { toString: 1, valueOf: 1 },
  JSON.parse('['.repeat(1000) + ']'.repeat(1000)),
]
const anyJson = fc.oneof(fc.jsonValue({ maxDepth: 3 }), fc.constantFrom(...HOSTILE))
const change = fc.record({ frame: fc.nat(), path: fc.nat(), value: anyJson })

describe.each(BUILT_IN)('$platform', (adapter) => {
  const transcripts = transcriptsOf(adapter.platform)
  const options = fc.constantFrom(...everyOptionsOf(adapter))

  const streams = transcripts.map(({ bytes }) => eventsOf([bytes])).filter((events) => events.length > 0)

  test('whatever one field of a frame carries, nothing is thrown and every event is one', () => {
    const frames = new Map(streams.flat().map((event) => [shapeOf(event), event]))
    for (const { event, data } of frames.values()) {
      for (const changed of variantsOf(parseJson(data))) {
        const state = adapter.start(callOf(agentFor(adapter)))
        const told = adapter.translate({ event, data: JSON.stringify(changed) }, state)
        expect([...told, ...adapter.finish(state)].filter((each) => !isChatEvent(each))).toEqual([])
      }
    }
  })

  test('whatever a frame carries, nothing is thrown and every event is one', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...streams),
        fc.array(change, { maxLength: 3 }),
        options,
        (events, changes, options) => {
          const state = adapter.start(callOf(agentFor(adapter, { options })))
          const changed = events.map(({ event, data }, index) => {
            const hits = changes.filter(({ frame }) => frame % events.length === index)
            return { event, data: hits.reduce((text, { path, value }) => replaced(text, path, value), data) }
          })
          const told = changed.flatMap((event) => adapter.translate(event, state))
          expect([...told, ...adapter.finish(state)].filter((event) => !isChatEvent(event))).toEqual([])
        },
      ),
      { numRuns: process.env.SOAK ? 20_000 : 150, seed: 1 },
    )
  })

  test('whatever a body is, nothing is thrown and every event is one', () => {
    const bodies = transcripts.map((transcript) => JSON.stringify(bodyOf(transcript)))
    fc.assert(
      fc.property(
        fc.constantFrom(...bodies),
        change,
        fc.integer({ min: 400, max: 599 }),
        (body, { path, value }, status) => {
          const changed = parseJson(replaced(body, path, value))
          const failure = adapter.toFailure(status, changed, () => undefined)
          const state = adapter.start(callOf(agentFor(adapter)))
          const told = [...adapter.translateBody(changed, state), ...adapter.finish(state)]
          expect([...told, { type: 'error', failure }].filter((event) => !isChatEvent(event))).toEqual([])
        },
      ),
      { numRuns: process.env.SOAK ? 20_000 : 150, seed: 1 },
    )
  })
})

/** Frames that differ in their values alone are one case. */
function shapeOf({ event, data }: UpstreamEvent): string {
  const json = parseJson(data)
  return JSON.stringify([event, objectOf(json).event, objectOf(json).type, Object.keys(objectOf(json))])
}

/** The value with each one inside it replaced by each hostile one. */
function* variantsOf(json: unknown): Generator<unknown> {
  yield* HOSTILE
  if (typeof json !== 'object' || json === null) return
  for (const [key, field] of Object.entries(json)) {
    for (const variant of variantsOf(field)) {
      yield Array.isArray(json) ? json.with(Number(key), variant) : { ...json, [key]: variant }
    }
  }
}

/** A text of JSON with one value in it replaced: which one, the digits of `path` tell. */
function replaced(text: string, path: number, value: unknown): string {
  const json = parseJson(text)
  return json === undefined
    ? text.slice(0, path % (text.length + 1))
    : JSON.stringify(replacedIn(json, path, value))
}

function replacedIn(json: unknown, path: number, value: unknown): unknown {
  const keys = typeof json === 'object' && json !== null ? Object.keys(json) : []
  const key = keys[path % keys.length]
  if (key === undefined || path === 0) return value
  const inner = replacedIn(Reflect.get(Object(json), key), Math.floor(path / keys.length), value)
  return Array.isArray(json) ? json.with(Number(key), inner) : { ...Object(json), [key]: inner }
}
