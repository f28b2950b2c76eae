import { expect, test } from 'vitest'
import type { ChatChunk } from '../generated/wire.ts'
import { type UIMessageStreamOptions, uiMessageForm } from './ui-message-form.ts'

const chunk = (content: string, more: object = {}, finish_reason: string | null = null) =>
  ({
    id: 'talk-1',
    choices: [{ index: 0, delta: { role: 'assistant', content }, finish_reason }],
    ...more,
  }) as ChatChunk
const thought = (text: string) => chunk('', { detail: { type: 'reasoning', data: { text } } })
const FAILED = {
  error: { message: 'Slow down.', type: 'rate_limit_error', code: 'rate_limited', param: null },
} as const

function partsOf(chunks: ChatChunk[], options: UIMessageStreamOptions = {}, isFailed = false) {
  const form = uiMessageForm(options)
  const frames = [...form.begin(), ...chunks.flatMap((each) => form.chunk(each))]
  frames.push(...((isFailed ? form.failure(FAILED) : form.end()) ?? []))
  expect(frames.at(-1)).toBe('data: [DONE]\n\n')
  return frames.slice(0, -1).map((frame) => JSON.parse(frame.replace(/^data: /, '')))
}
const METADATA = { type: 'message-metadata', messageMetadata: { conversationId: 'talk-1' } }

test('text and reasoning are parts that begin and end', () => {
  const parts = partsOf(
    [thought('Hm'), thought('m'), chunk('Hel'), chunk('lo'), thought('So'), chunk('!', {}, 'length')],
    {
      messageId: 'm1',
    },
  )
  expect(parts).toEqual([
    { type: 'start', messageId: 'm1' },
    METADATA,
    { type: 'reasoning-start', id: '0' },
    { type: 'reasoning-delta', id: '0', delta: 'Hm' },
    { type: 'reasoning-delta', id: '0', delta: 'm' },
    { type: 'reasoning-end', id: '0' },
    { type: 'text-start', id: '1' },
    { type: 'text-delta', id: '1', delta: 'Hel' },
    { type: 'text-delta', id: '1', delta: 'lo' },
    { type: 'text-end', id: '1' },
    { type: 'reasoning-start', id: '2' },
    { type: 'reasoning-delta', id: '2', delta: 'So' },
    { type: 'reasoning-end', id: '2' },
    { type: 'text-start', id: '3' },
    { type: 'text-delta', id: '3', delta: '!' },
    { type: 'text-end', id: '3' },
    { type: 'finish', finishReason: 'length' },
  ])
})

test('a pause is a part of its own, after the text of the question', () => {
  const pause = { id: 'call-1', question: 'Sure?', options: [{ id: 'yes', title: 'Yes' }], fields: [] }
  expect(partsOf([chunk('Sure?'), chunk('', { pause }, 'stop')])).toEqual([
    { type: 'start' },
    METADATA,
    { type: 'text-start', id: '0' },
    { type: 'text-delta', id: '0', delta: 'Sure?' },
    { type: 'text-end', id: '0' },
    { type: 'data-pause', id: 'call-1', data: pause },
    { type: 'finish', finishReason: 'stop' },
  ])
})

test('files are parts of their own where they have a URL, with a media type also where the platform has none', () => {
  const files = [
    { type: 'image', url: 'https://files.test/1.png', name: '1.png', media_type: 'image/png' },
    { type: 'image', url: 'https://files.test/2' },
    { type: 'document', url: 'https://files.test/3' },
    { type: 'audio' },
  ]
  expect(partsOf([chunk('Here.'), chunk('', { files }, 'stop')])).toEqual([
    { type: 'start' },
    METADATA,
    { type: 'text-start', id: '0' },
    { type: 'text-delta', id: '0', delta: 'Here.' },
    { type: 'text-end', id: '0' },
    { type: 'file', url: 'https://files.test/1.png', mediaType: 'image/png' },
    { type: 'file', url: 'https://files.test/2', mediaType: 'image/*' },
    { type: 'file', url: 'https://files.test/3', mediaType: 'application/octet-stream' },
    { type: 'finish', finishReason: 'stop' },
  ])
})

test('reasoning can be kept back', () => {
  expect(partsOf([thought('Hm'), chunk('Hi', {}, 'stop')], { sendReasoning: false })).toEqual([
    { type: 'start' },
    METADATA,
    { type: 'text-start', id: '0' },
    { type: 'text-delta', id: '0', delta: 'Hi' },
    { type: 'text-end', id: '0' },
    { type: 'finish', finishReason: 'stop' },
  ])
})

test('a failure ends the part that is open, and has no finish', () => {
  const told = (options: UIMessageStreamOptions) => partsOf([chunk('Hel')], options, true).slice(3)
  expect(told({})).toEqual([
    { type: 'text-delta', id: '0', delta: 'Hel' },
    { type: 'text-end', id: '0' },
    { type: 'error', errorText: 'rate_limited: Slow down.' },
  ])
  expect(told({ onError: () => 'Slow down.' }).at(-1)).toEqual({ type: 'error', errorText: 'Slow down.' })
})

test.each([
  ['content_filter', 'content-filter'],
  ['tool_calls', 'tool-calls'],
  ['something new', 'other'],
])('%s is %s there', (reason, finishReason) => {
  expect(partsOf([chunk('', {}, reason)]).at(-1)).toEqual({ type: 'finish', finishReason })
})

test.each([
  null,
  5,
  'text',
  {},
  { choices: null },
  { choices: [null] },
  { choices: [{ delta: { content: 5 } }] },
])('of the odd chunk %j nothing is passed on', (odd) => {
  expect(partsOf([odd as unknown as ChatChunk])).toEqual([
    { type: 'start' },
    { type: 'finish', finishReason: 'stop' },
  ])
})
