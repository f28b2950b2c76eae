import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ChatEvent } from '#core/agents/events.ts'
import { pauseEvent } from '#core/agents/pause.test-support.ts'
import { objectOf } from '#core/base/values/json.ts'
import { WellFormedText, wellFormed } from './well-formed-text.ts'

const HIGH = '\ud83d'
const LOW = '\ude00'

function taken(...events: readonly ChatEvent[]): readonly ChatEvent[] {
  const texts = new WellFormedText()
  return [...events.flatMap((event) => texts.take(event)), ...texts.end()]
}

const text = (piece: string): ChatEvent => ({ type: 'text', text: piece })
const reasoning = (piece: string): ChatEvent => ({ type: 'reasoning', text: piece })
const call = (index: number, args: string): ChatEvent => ({
  type: 'tool_calls',
  delta: [{ index, function: { arguments: args } }],
})

test('a text that is cut anywhere arrives as it was, in pieces that are well-formed', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.array(fc.nat()), (whole, cuts) => {
      const places = [...new Set([0, ...cuts.map((cut) => cut % (whole.length + 1)), whole.length])].sort(
        (a, b) => a - b,
      )
      const pieces = places.slice(1).map((to, index) => whole.slice(places[index], to))
      const events = taken(...pieces.map(text))
      const texts = events.map((event) => (event.type === 'text' ? event.text : ''))
      expect(texts.every((each) => each.isWellFormed())).toBe(true)
      expect(texts.join('')).toBe(whole.toWellFormed())
    }),
    { numRuns: process.env.SOAK ? 10_000 : 200 },
  )
})

test('half a character waits for its other half, also while other events come', () => {
  const model: ChatEvent = { type: 'model', model: 'm' }
  expect(taken(text(`a${HIGH}`), model, text(`${LOW}b`))).toEqual([text('a'), model, text('😀b')])
})

test.each([
  ['at the end', [text(`a${HIGH}`)], [text('a'), text('\ufffd')]],
  ['when another kind comes', [text(HIGH), reasoning('r')], [text('\ufffd'), reasoning('r')]],
  ['when a tool call comes', [text(HIGH), call(0, '{}')], [text('\ufffd'), call(0, '{}')]],
  ['when a question comes', [reasoning(HIGH), question('?')], [reasoning('\ufffd'), question('?')]],
])('half a character that stays alone is replaced %s', (_when, events, expected) => {
  expect(taken(...events)).toEqual(expected)
})

function question(words: string): ChatEvent {
  return pauseEvent(words)
}

test('the halves of each tool call are joined apart from each other', () => {
  const events = taken(call(0, `"${HIGH}`), call(1, `"x${HIGH}`), call(0, LOW), call(1, LOW))
  const argumentsOf = (index: number) =>
    events
      .flatMap((event) => (event.type === 'tool_calls' ? event.delta : []))
      .map(objectOf)
      .filter((piece) => piece.index === index)
      .map((piece) => objectOf(piece.function).arguments)
      .join('')
  expect([argumentsOf(0), argumentsOf(1)]).toEqual(['"😀', '"x😀'])
})

test('everything else that a client gets is well-formed as well', () => {
  expect(
    taken(
      { type: 'model', model: `m${HIGH}` },
      { type: 'replace', text: LOW },
      pauseEvent(HIGH, [LOW]),
      { type: 'tool_calls', delta: [{ index: 0, id: HIGH, function: { name: LOW, arguments: '' } }] },
      { type: 'logprobs', logprobs: { content: [{ token: LOW, logprob: -1 }] } },
      { type: 'citations', top: { citations: [HIGH] }, annotations: [{ title: `a${HIGH}` }] },
    ),
  ).toEqual([
    { type: 'model', model: 'm\ufffd' },
    { type: 'replace', text: '\ufffd' },
    pauseEvent('\ufffd', ['\ufffd']),
    { type: 'tool_calls', delta: [{ index: 0, id: '\ufffd', function: { name: '\ufffd', arguments: '' } }] },
    { type: 'logprobs', logprobs: { content: [{ token: '\ufffd', logprob: -1 }] } },
    { type: 'citations', top: { citations: ['\ufffd'] }, annotations: [{ title: 'a\ufffd' }] },
  ])
  expect(wellFormed({ a: [{ [HIGH]: `x${LOW}` }], b: 'ok' })).toEqual({
    a: [{ '\ufffd': 'x\ufffd' }],
    b: 'ok',
  })
})
