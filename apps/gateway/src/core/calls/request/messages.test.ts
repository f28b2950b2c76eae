import { describe, expect, test } from 'vitest'
import type { CallMessage } from '#core/agents/adapter.ts'
import { Problem } from '#core/base/errors/errors.ts'
import { RequestUrls } from './file-urls.ts'
import { lastUserPrompt, publicMessages, wholePrompt } from './messages.ts'

const PUBLIC = 'https://files.example.com/a.png'
const PRIVATE = 'http://169.254.169.254/latest/meta-data'
const DATA = 'data:image/png;base64,AAAA'

const rulesOf = (isIssued: (url: string) => boolean, takesInlineFiles: boolean) => ({
  urls: new RequestUrls(isIssued),
  takesInlineFiles,
})
const externalOnly = () => rulesOf(() => false, false)

/** How the two kinds of agents read one user message of this content: the array as it is, or one prompt. */
const WAYS = {
  'openai agents': (content: unknown) =>
    publicMessages([{ role: 'user', content }], externalOnly())[0]?.content,
  'the others': (content: unknown) => lastUserPrompt([{ role: 'user', content }], externalOnly()),
}

function refusalOf(work: () => unknown): string | undefined {
  try {
    work()
  } catch (error) {
    if (error instanceof Problem && error.reason === 'invalid_request') return error.detail
    throw error
  }
  return undefined
}

describe.each(Object.entries(WAYS))('for %s', (_name, read) => {
  const text = { type: 'text', text: 'hello' }

  test.each([
    ['an image by URL', { type: 'image_url', image_url: { url: PRIVATE } }, 'image_url.url'],
    ['an image by a bare text', { type: 'image_url', image_url: PRIVATE }, 'image_url'],
    ['a file by url', { type: 'file', file: { url: PRIVATE } }, 'file.url'],
    ['a file by file_url', { type: 'file', file: { file_url: PRIVATE } }, 'file.file_url'],
    ['a file by file_data', { type: 'file', file: { file_data: PRIVATE } }, 'file.file_data'],
    ['a file with two URLs', { type: 'file', file: { url: PUBLIC, file_url: PRIVATE } }, 'file.file_url'],
    [
      'a file beside an image',
      { type: 'image_url', image_url: { url: PUBLIC }, file: { file_url: PRIVATE } },
      'file.file_url',
    ],
    [
      'an image beside a file',
      { type: 'file', file: { url: PUBLIC }, image_url: { url: PRIVATE } },
      'image_url.url',
    ],
    ['a video beside a text', { ...text, video_url: { url: PRIVATE } }, 'video_url.url'],
    ['a URL in place of audio', { type: 'input_audio', input_audio: { data: PRIVATE } }, 'input_audio.data'],
    ['another scheme', { type: 'image_url', image_url: { url: 'file:///etc/passwd' } }, 'image_url.url'],
  ])('a private URL in %s is rejected', (_what, part, field) => {
    expect(refusalOf(() => read([text, part]))).toMatch(`messages[0].content[1].${field}: expected `)
    expect(refusalOf(() => read(part))).toMatch(`messages[0].content.${field}: expected `)
  })

  test.each([
    'video_url',
    'audio_url',
    'input_file',
    'input_image',
    'image',
    'TEXT',
    '',
    undefined,
    7,
    '__proto__',
  ])('a part of the unknown type %o is rejected, and the error names the type', (type) => {
    const part = { type, [String(type)]: { url: PUBLIC } }
    const expected = 'expected one of text, image_url, file, input_audio.'
    expect(refusalOf(() => read([text, part]))).toBe(`messages[0].content[1].type: ${expected}`)
    expect(refusalOf(() => read(part))).toBe(`messages[0].content.type: ${expected}`)
  })

  test.each([['a text'], [null], [7], [[]]])('a part that is %o is rejected', (part) => {
    expect(refusalOf(() => read([part]))).toMatch(/^messages\[0\]\.content\[0\]\.type: /)
  })

  test.each([7, true])('content that is %o is rejected', (content) => {
    expect(refusalOf(() => read(content))).toBe(
      'messages[0].content: expected a string, an array of parts or null.',
    )
  })

  test('a text part must have a text', () => {
    for (const wrong of [{ type: 'text' }, { type: 'text', text: { url: PRIVATE } }]) {
      expect(refusalOf(() => read([wrong]))).toBe('messages[0].content[0].text: expected a string.')
    }
  })

  test('a text may contain any URL', () => {
    expect(refusalOf(() => read(PRIVATE))).toBeUndefined()
    expect(refusalOf(() => read([{ type: 'text', text: PRIVATE }]))).toBeUndefined()
  })
})

describe('URLs that the gateway issued', () => {
  const ISSUED = 'http://127.0.0.1:8080/files/token/a.png'
  const rules = rulesOf((url) => url === ISSUED, true)
  const ways = {
    'openai agents': (part: object) => publicMessages([{ role: 'user', content: [part] }], rules),
    'the others': (part: object) => lastUserPrompt([{ role: 'user', content: [part] }], rules),
  }

  test.each(Object.entries(ways))('are accepted for %s in every field for URLs', (_name, read) => {
    const parts = [
      { type: 'image_url', image_url: { url: ISSUED } },
      { type: 'image_url', image_url: ISSUED },
      ...['url', 'file_url', 'file_data'].map((name) => ({ type: 'file', file: { [name]: ISSUED } })),
      { type: 'file', file: ISSUED },
    ]
    for (const part of parts) expect(refusalOf(() => read(part))).toBeUndefined()
  })

  test.each(Object.entries(ways))(
    'are like any other URL for %s in fields whose URLs are not looked up',
    (_name, read) => {
      const image = { type: 'image_url', image_url: { url: ISSUED } }
      for (const [part, field] of [
        [{ ...image, image_url: { url: ISSUED, thumbnail: ISSUED } }, 'image_url.thumbnail'],
        [{ ...image, file: { file_data: ISSUED } }, 'file.file_data'],
        [{ type: 'input_audio', input_audio: { data: ISSUED } }, 'input_audio.data'],
      ] as const) {
        expect(refusalOf(() => read(part))).toBe(
          `messages[0].content[0].${field}: expected a publicly reachable URL.`,
        )
      }
    },
  )
})

describe('a file that the request carries', () => {
  const rules = rulesOf(() => false, true)
  const read = (file_data: string) =>
    lastUserPrompt(
      [{ role: 'user', content: [{ type: 'file', file: { filename: 'a.png', file_data } }] }],
      rules,
    )

  test.each(['data:image/png;base64,AA==', 'data:image/png;base64,AA', 'data:;base64,AAAA', DATA])(
    '%s is passed on with its name',
    (dataUrl) => {
      const field = ['messages', 0, 'content', 0, 'file', 'file_data']
      expect(read(dataUrl).files).toEqual([{ file: { dataUrl, filename: 'a.png' }, field }])
    },
  )

  test.each([
    'data:,',
    'data:text/plain,hello',
    'data:text/plain;base64,',
    'data:text/plain;base64,A',
    'data:text/plain;base64,A===',
    'data:text/plain;base64,AA-_',
    'data:text/plain;base64,AAAA\n',
    'data:text/plain;base64,AA AA',
  ])('%o is rejected: empty, or not base64', (dataUrl) => {
    expect(refusalOf(() => read(dataUrl))).toMatch(
      /^messages\[0\]\.content\[0\]\.file\.file_data: expected a data: URL in base64/,
    )
  })
})

describe('openai agents', () => {
  test('receive parts of known types unchanged, and a single part in an array', () => {
    const parts = [
      { type: 'text', text: 'hello', cache_control: { type: 'ephemeral' } },
      { type: 'image_url', image_url: { url: PUBLIC, detail: 'low' } },
      { type: 'image_url', image_url: { url: DATA } },
      { type: 'file', file: { filename: 'a.pdf', file_data: 'JVBERi0=' } },
      { type: 'file', file: { file_id: 'file-1' } },
      { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } },
    ]
    expect(WAYS['openai agents'](parts)).toEqual(parts)
    expect(WAYS['openai agents'](parts[1])).toEqual([parts[1]])
  })

  test('receive no refusal parts, and no empty array in place of them', () => {
    const refusal = { type: 'refusal', refusal: 'no' }
    const text = { type: 'text', text: 'hello' }
    expect(WAYS['openai agents']([refusal, text])).toEqual([text])
    expect(WAYS['openai agents']([refusal])).toBe('')
  })

  test('receive no invalid image URL', () => {
    const part = { type: 'image_url', image_url: { url: '10.0.0.1/a.png' } }
    expect(refusalOf(() => WAYS['openai agents']([part]))).toBe(
      'messages[0].content[0].image_url.url: expected an http or https URL.',
    )
  })

  test('receive the fields beside the content, but no private URL in them', () => {
    const tool_calls = [{ id: 't', function: { name: 'f', arguments: PRIVATE } }]
    const message: CallMessage = { role: 'assistant', content: null, extra: { tool_calls, name: PRIVATE } }
    expect(publicMessages([message], externalOnly())).toEqual([message])
    const images: CallMessage = { role: 'user', content: 'look', extra: { images: [PRIVATE] } }
    expect(refusalOf(() => publicMessages([message, images], externalOnly()))).toMatch(
      /^messages\[1\]\.images\[0\]: /,
    )
  })
})

describe('other agents', () => {
  const BY_URL_ALONE = 'expected a URL; this agent takes files by URL alone.'

  test('receive texts and the URLs of files, one for each part', () => {
    const content = [
      { type: 'text', text: 'one' },
      { type: 'image_url', image_url: { url: PUBLIC } },
      { type: 'refusal', refusal: 'no' },
      { type: 'file', file: { file_data: DATA, file_url: `${PUBLIC}?2` } },
      { type: 'text', text: 'two' },
    ]
    expect(lastUserPrompt([{ role: 'user', content }], externalOnly())).toEqual({
      query: 'one\ntwo',
      files: [
        { file: PUBLIC, field: ['messages', 0, 'content', 1, 'image_url', 'url'] },
        { file: `${PUBLIC}?2`, field: ['messages', 0, 'content', 3, 'file', 'file_url'] },
      ],
    })
  })

  test.each([
    [{ type: 'image_url', image_url: { url: DATA } }, `image_url.url: ${BY_URL_ALONE}`],
    [{ type: 'file', file: { file_data: DATA } }, `file.file_data: ${BY_URL_ALONE}`],
    [{ type: 'file', file: { file_id: 'f' } }, `file: ${BY_URL_ALONE}`],
    [
      { type: 'input_audio', input_audio: { data: '' } },
      'type: this agent takes parts of type text, image_url and file.',
    ],
  ])('cannot receive %o', (part, expected) => {
    expect(refusalOf(() => lastUserPrompt([{ role: 'user', content: [part] }], externalOnly()))).toBe(
      `messages[0].content[0].${expected}`,
    )
  })

  test('receive all messages as one text if no conversation is named', () => {
    const messages = [
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
      { role: 'assistant', content: [{ type: 'refusal', refusal: 'no' }] },
      { role: 'user', content: { type: 'text', text: 'Why?' } },
    ]
    expect(wholePrompt(messages, externalOnly())).toEqual({
      query: 'System: Be kind.\n\nUser: Hi\n\nAssistant: \n\nUser: Why?',
      files: [],
    })
  })
})
