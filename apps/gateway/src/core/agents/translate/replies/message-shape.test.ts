import { describe, expect, test } from 'vitest'
import { type Reading, readMessage } from './message-shape.ts'

function read(message: unknown) {
  const reading: Reading = { events: [], calls: [], isUnread: false }
  readMessage(message, reading)
  const join = (type: string) =>
    reading.events.map((event) => (event.type === type && 'text' in event ? event.text : '')).join('')
  return {
    text: join('text'),
    reasoning: join('reasoning'),
    calls: reading.calls,
    isUnread: reading.isUnread,
  }
}

test.each([
  [{ content: 'a' }, 'a', ''],
  [{ content: null, refusal: 'no' }, 'no', ''],
  ['a', 'a', ''],
  [{ text: 'a' }, 'a', ''],
  [{ content: 42 }, '42', ''],
  [{ content: ['a', { type: 'text', text: 'b' }] }, 'ab', ''],
  [{ content: { type: 'output_text', text: 'a' } }, 'a', ''],
  [{ content: [{ type: 'text', text: { content: 'a' } }, { text: { value: 'b' } }] }, 'ab', ''],
  [{ content: [{ type: 'refusal', refusal: 'no' }] }, 'no', ''],
  [
    {
      content: [
        { type: 'thinking', thinking: [{ type: 'text', text: 'h' }] },
        { type: 'text', text: 'a' },
      ],
    },
    'a',
    'h',
  ],
  [{ content: [{ type: 'reasoning', text: 'h' }] }, '', 'h'],
  [{ content: [{ reasoning: { content: 'h' } }] }, '', 'h'],
  [{ reasoning_content: 'h', reasoning: 'h', content: 'a' }, 'a', 'h'],
  [
    {
      reasoning: '',
      reasoning_details: [
        { type: 'reasoning.text', text: 'h' },
        { type: 'reasoning.encrypted', data: 'x' },
      ],
    },
    '',
    'h',
  ],
  [{ audio: { id: 'x', data: 'abc', transcript: 'a' } }, 'a', ''],
])('%j has a text and reasoning', (message, text, reasoning) => {
  expect(read(message)).toEqual({ text, reasoning, calls: [], isUnread: false })
})

const PICTURE = { type: 'image', url: 'https://x.example/a.png' } as const

test.each<[object, object]>([
  [{ content: [{ type: 'image_url', image_url: { url: PICTURE.url } }] }, PICTURE],
  [{ content: [{ type: 'image_url', image_url: PICTURE.url }] }, PICTURE],
  [{ content: [{ type: 'image', source: { url: PICTURE.url } }] }, PICTURE],
  [{ content: [{ type: 'image', file_url: '/files/a.png' }] }, { type: 'image', url: '/files/a.png' }],
  [
    { images: [{ image_url: { url: 'data:image/png;base64,YQ==' } }] },
    { type: 'image', url: 'data:image/png;base64,YQ==', mediaType: 'image/png' },
  ],
  [
    { content: [{ type: 'file', file: { filename: 'a [1].pdf', url: 'https://x.example/1' } }] },
    { type: 'document', name: 'a [1].pdf', url: 'https://x.example/1' },
  ],
  [
    { content: [{ type: 'file', file: { url: 'https://x.example/a.mp3' } }] },
    { type: 'audio', url: 'https://x.example/a.mp3' },
  ],
])('%j has a file', (message, file) => {
  const reading: Reading = { events: [], calls: [], isUnread: false }
  readMessage(message, reading)
  expect(reading).toEqual({ events: [{ type: 'file', file }], calls: [], isUnread: false })
})

test.each([
  [{ tool_calls: [{ id: 'a' }, { id: 'b' }] }, [{ id: 'a' }, { id: 'b' }]],
  [{ tool_calls: { id: 'a' } }, [{ id: 'a' }]],
  [{ function_call: { name: 'f' } }, [{ function: { name: 'f' } }]],
  [{ content: [{ type: 'tool_use', name: 'f' }] }, [{ type: 'tool_use', name: 'f' }]],
])('%j has calls', (message, calls) => {
  expect(read(message)).toMatchObject({ calls, isUnread: false })
})

describe('what is not understood', () => {
  test.each([
    [{ content: [{ type: 'hologram', hologram: { url: 'x' } }] }],
    [{ output: 'a' }],
    [{ blocks: [{ words: 'a' }] }],
    [{ message: { blocks: ['a'] } }],
    [{ content: [{ type: 'image_url', image_url: { id: 'x' } }] }],
    [{ content: true }],
  ])('of %j is noted', (message) => {
    expect(read(message)).toMatchObject({ text: '', isUnread: true })
  })

  test.each([
    [{}],
    [null],
    [{ content: '' }],
    [{ content: [] }],
    [{ content: [{ type: 'text', text: '' }] }],
    [
      {
        role: 'assistant',
        name: 'x',
        annotations: [{ a: 1 }],
        padding: '',
        extra: [null, {}],
        flag: true,
        n: 5,
      },
    ],
    [
      {
        index: 0,
        delta: { content: '' },
        content_filter_results: { hate: { severity: 'safe' } },
        logprobs: { content: [1] },
      },
    ],
    [{ reasoning_details: [{ type: 'reasoning.encrypted', data: 'x' }] }],
  ])('does not include %j, in which there is nothing', (message) => {
    expect(read(message)).toEqual({ text: '', reasoning: '', calls: [], isUnread: false })
  })
})

test('parts within parts end somewhere', () => {
  let part: unknown = 'deep'
  for (let level = 0; level < 1_000; level += 1) part = { text: part }
  expect(read({ content: [part] })).toMatchObject({ text: '', isUnread: true })
})

test.each([
  [{ message: { role: 'assistant', content: 'a' } }],
  [{ message: 'a' }],
  [{ content: { message: { content: 'a' } } }],
  [{ content: 'a', message: { content: 'a' } }],
])('a message may be within another: %j', (message) => {
  expect(read(message)).toMatchObject({ text: 'a', isUnread: false })
})

test('an empty field for reasoning does not hide another one', () => {
  const reading: Reading = { events: [], calls: [], isUnread: false }
  readMessage({ reasoning_content: '', reasoning: 'a', content: '' }, reading)
  expect(reading.events).toEqual([{ type: 'reasoning', text: 'a' }])
})
