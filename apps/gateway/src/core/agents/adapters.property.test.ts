import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isPlatformId } from '#core/agents/translate/platform-id.ts'
import { listOf, objectOf, parseJson } from '#core/base/values/json.ts'
import type { UpstreamEvent } from './adapter.ts'
import { isChatEvent } from './chat-events.test-support.ts'
import { fileToUpload } from './file-to-upload.test-support.ts'
import { BUILT_IN } from './registry.ts'
import {
  agentFor,
  bodyOf,
  callOf,
  conversationOf,
  eventsOf,
  everyOptionsOf,
  textSent,
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
  // Throws when it is converted to a string or a number.
  { toString: 1, valueOf: 1 },
  JSON.parse('['.repeat(1000) + ']'.repeat(1000)),
]
const anyJson = fc.oneof(fc.jsonValue({ maxDepth: 3 }), fc.constantFrom(...HOSTILE))
const change = fc.record({ frame: fc.nat(), path: fc.nat(), value: anyJson })

describe.each(BUILT_IN)('$platform', (adapter) => {
  test('a file by id is sent to a platform that gives such ids, and to no other', () => {
    const file = { name: 'a.pdf', kind: 'document', platformFileId: 'id-of-file' } as const
    const build = () => textSent(adapter.buildRequest(callOf(agentFor(adapter), { files: [file] })))
    if (adapter.uploadFile === undefined) expect(build).toThrow('by URL alone')
    else expect(build()).toContain('id-of-file')
  })

  test('any reply to an upload yields an id that can be stored, or a failure, and throws nothing', () => {
    const id = fc.oneof(anyJson, fc.string())
    const body = fc.oneof(anyJson, fc.record({ id, code: fc.constant(0), data: fc.record({ id }) }))
    fc.assert(
      fc.property(body, fc.constantFrom(200, 201, 400, 413, 500), (body, status) => {
        const upload = adapter.uploadFile?.(callOf(agentFor(adapter)), fileToUpload('abc'))
        const result = upload?.read(status, body, () => undefined)
        if (result === undefined) return
        if ('ok' in result) expect(isPlatformId(result.ok.platformFileId)).toBe(true)
        else expect(isChatEvent({ type: 'error', failure: result.failure })).toBe(true)
      }),
      { numRuns: process.env.SOAK ? 10_000 : 100 },
    )
  })

  const transcripts = transcriptsOf(adapter.platform)

  const aboutConversations = everyOptionsOf(adapter).flatMap((options) => {
    const agent = agentFor(adapter, { options })
    const conversation = conversationOf(agent, { appId: 'app' })
    const calls = adapter.conversations?.(agent)
    const made = [
      calls?.history?.(conversation, { limit: 20 }),
      calls?.history?.(conversation, { limit: 1, before: '3' }),
      calls?.history?.(conversation, { limit: 100, before: '\ud800 ?&#' }),
      calls?.turn?.(conversation, 'task-1'),
      calls?.rename?.(conversation, '\ud800"'),
      calls?.remove?.(conversation),
      calls?.rate?.(conversation, { answerId: 'a', rating: 'up', text: '\ud800"' }),
      calls?.rate?.(conversation, { answerId: 'a', rating: null }),
    ]
    return made.flatMap((call) => (call === undefined ? [] : [call, ...(call.older ? [call.older] : [])]))
  })

  test('any reply about a conversation yields messages that can be shown, or a failure, and throws nothing', () => {
    const bodies = transcripts.map((transcript) => JSON.stringify(bodyOf(transcript)))
    for (const { request } of aboutConversations) expect(URL.canParse(request.url)).toBe(true)
    if (aboutConversations.length === 0) return
    fc.assert(
      fc.property(
        fc.constantFrom(...aboutConversations),
        fc.constantFrom(...bodies),
        change,
        fc.constantFrom(200, 204, 302, 400, 404, 500),
        ({ read }, body, { path, value }, status) => {
          const result = read(status, parseJson(replaced(body, path, value)), () => undefined)
          if ('failure' in result) expect(isChatEvent({ type: 'error', failure: result.failure })).toBe(true)
          else expect(messagesIn(result.ok).filter((each) => !isPlatformMessage(each))).toEqual([])
        },
      ),
      { numRuns: process.env.SOAK ? 20_000 : 400, seed: 1 },
    )
  })

  test('any value in one field of a list of messages yields those that can be shown', () => {
    const read = transcripts.filter(({ outcome }) => outcome === 'aux')
    for (const call of aboutConversations) {
      for (const transcript of read) {
        for (const changed of variantsOf(bodyOf(transcript))) {
          const result = call.read(200, changed, () => undefined)
          const messages = 'ok' in result ? messagesIn(result.ok) : []
          expect(messages.filter((each) => !isPlatformMessage(each))).toEqual([])
        }
      }
    }
  })

  const options = fc.constantFrom(...everyOptionsOf(adapter))

  const streams = transcripts.map(({ bytes }) => eventsOf([bytes])).filter((events) => events.length > 0)

  test('any value in one field of a frame yields valid events and throws nothing', () => {
    const frames = new Map(streams.flat().map((event) => [shapeOf(event), event]))
    for (const { event, data } of frames.values()) {
      for (const changed of variantsOf(parseJson(data))) {
        const state = adapter.start(callOf(agentFor(adapter)))
        const translated = adapter.translate({ event, data: JSON.stringify(changed) }, state)
        expect([...translated, ...adapter.finish(state)].filter((each) => !isChatEvent(each))).toEqual([])
      }
    }
  })

  test('any values in the frames of a stream yield valid events and throw nothing', () => {
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
          const translated = changed.flatMap((event) => adapter.translate(event, state))
          expect([...translated, ...adapter.finish(state)].filter((event) => !isChatEvent(event))).toEqual([])
        },
      ),
      { numRuns: process.env.SOAK ? 20_000 : 150, seed: 1 },
    )
  })

  test('any body yields valid events and throws nothing', () => {
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
          const translated = [...adapter.translateBody(changed, state), ...adapter.finish(state)]
          const events = [...translated, { type: 'error', failure }]
          expect(events.filter((event) => !isChatEvent(event))).toEqual([])
        },
      ),
      { numRuns: process.env.SOAK ? 20_000 : 150, seed: 1 },
    )
  })
})

/** The messages of a page or of a turn; none of what has no messages. */
function messagesIn(ok: unknown): readonly unknown[] {
  const { items, before } = objectOf(ok)
  if (before !== undefined) expect(typeof before === 'string' && isPlatformId(before)).toBe(true)
  return listOf(items ?? ok)
}

function isPlatformMessage(value: unknown): boolean {
  const { id, role, text, files, createdAt, answerId, rating } = objectOf(value)
  const ids = [id, ...(answerId === undefined ? [] : [answerId])]
  return (
    ids.every((each) => typeof each === 'string' && isPlatformId(each)) &&
    (role === 'user' || role === 'assistant') &&
    typeof text === 'string' &&
    text.isWellFormed() &&
    listOf(files).every((file) => typeof objectOf(file).url === 'string') &&
    (createdAt === undefined || (createdAt instanceof Date && createdAt.toISOString().length === 24)) &&
    [undefined, 'up', 'down'].includes(rating as undefined)
  )
}

/** Identifies the shape of a frame; frames that differ in their values alone need to be tried only once. */
function shapeOf({ event, data }: UpstreamEvent): string {
  const json = parseJson(data)
  return JSON.stringify([event, objectOf(json).event, objectOf(json).type, Object.keys(objectOf(json))])
}

/** Yields the value with each nested value in turn replaced by each hostile one. */
function* variantsOf(json: unknown): Generator<unknown> {
  yield* HOSTILE
  if (typeof json !== 'object' || json === null) return
  for (const [key, field] of Object.entries(json)) {
    for (const variant of variantsOf(field)) {
      yield Array.isArray(json) ? json.with(Number(key), variant) : { ...json, [key]: variant }
    }
  }
}

/** Replaces one value in a JSON text; the digits of `path` select which one. */
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
