import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ChatEvent } from '#core/agents/events.ts'
import type { MadeFile } from '#core/agents/made-file.ts'
import { ReplyContent } from '../reply-content.ts'
import { fileText } from './file-text.ts'
import { FILES_OF_REPLY_MAX, FilesOfReply } from './files-of-reply.ts'
import { keepFiles } from './keep-files.ts'
import { SeenUrls } from './seen-urls.ts'

const ORIGIN = 'https://files.example.com'
const picture: MadeFile = {
  type: 'image',
  url: `${ORIGIN}/a/chart.png`,
  name: 'chart.png',
  mediaType: 'image/png',
}

const reply = () => new FilesOfReply({ baseUrl: 'http://10.0.0.1', filesUrl: ORIGIN })
const shown = (files: FilesOfReply, made: MadeFile) => {
  const offered = files.take(made)
  return offered && files.textOf(made, offered)
}

describe('the URLs in a text', () => {
  test.each([
    `see ${ORIGIN}/a/chart.png?x=1 there`,
    `![chart](${ORIGIN}/a/chart.png)`,
    `(${ORIGIN}/a/chart.png) and https://other.example/b`,
    `[x](/a/chart.png)`,
  ])('%j are found, wherever it is cut', (text) => {
    const url = text.includes(ORIGIN) ? `${ORIGIN}/a/chart.png` : '/a/chart.png'
    for (let at = 0; at <= text.length; at += 1) {
      const seen = new SeenUrls()
      for (const piece of [text.slice(0, at), text.slice(at), ' ']) seen.add(piece)
      expect(seen.hasAny([url])).toBe(true)
      expect(seen.hasAny([`${ORIGIN}/b.png`])).toBe(false)
    }
  })

  test('are found if they come a character at a time, and no text is kept', () => {
    const seen = new SeenUrls()
    for (const sign of `${'word '.repeat(1_000)}${ORIGIN}/a.png ${'word '.repeat(1_000)}`) seen.add(sign)
    expect(seen.hasAny([`${ORIGIN}/a.png`])).toBe(true)
    expect(JSON.stringify(Object.values(seen)).length).toBeLessThan(200)
  })

  test('take a bounded amount of memory', () => {
    const seen = new SeenUrls()
    for (let n = 0; n < 2_000; n += 1) seen.add(`https://x/${n}/${'a'.repeat(10_000)} `)
    expect(seen.hasAny(['https://x/1/'])).toBe(true)
    expect(seen.hasAny(['https://x/1999/'])).toBe(false)
  })
})

describe('a file of a reply', () => {
  test.each([
    ['goes on', '\n\ngoes on'],
    ['\ngoes on', '\n\ngoes on'],
  ])('is on a line of its own also where the text %j follows it', (text, shown) => {
    const content = new ReplyContent(
      { runtime: { elapsedMs: () => 0 }, streamBytesMax: 10_000 },
      { thinkTags: false, baseUrl: ORIGIN, keepFiles: false },
    )
    const batch: ChatEvent[] = []
    content.sift(
      [
        { type: 'file', file: picture },
        { type: 'text', text },
        { type: 'text', text: '!' },
      ],
      batch,
    )
    const texts = batch.map((event) => (event.type === 'text' ? event.text : ''))
    expect(texts.join('')).toBe(`![chart.png](${ORIGIN}/a/chart.png)${shown}!`)
  })

  test('is shown on a line of its own, and once, however often it comes', () => {
    const files = reply()
    files.saw('Here it is:')
    expect(shown(files, picture)).toBe(`\n\n![chart.png](${ORIGIN}/a/chart.png)`)
    expect(shown(files, { ...picture, url: `${ORIGIN}/a/chart.png?sign=2` })).toBeUndefined()
    expect(files.offered).toEqual([
      { type: 'image', url: `${ORIGIN}/a/chart.png`, name: 'chart.png', media_type: 'image/png' },
    ])
  })

  test('alone is the whole text', () => {
    expect(shown(reply(), picture)).toBe(`![chart.png](${ORIGIN}/a/chart.png)`)
  })

  test('that the text shows already is not shown again', () => {
    for (const text of [
      `![](${ORIGIN}/a/chart.png)`,
      `see ${ORIGIN}/a/chart.png?x=1.`,
      '![](/a/chart.png)',
    ]) {
      const files = reply()
      files.saw(text)
      const url = text.includes('](/') ? '/a/chart.png' : picture.url
      expect(shown(files, { ...picture, ...(url !== undefined && { url }) })).toBe('')
      expect(files.offered).toHaveLength(1)
    }
  })

  test('with a relative address has the one at which it can be reached, or none', () => {
    expect(shown(reply(), { type: 'document', url: '/f/1', name: 'a.pdf' })).toBe(`[a.pdf](${ORIGIN}/f/1)`)
    const nowhere = new FilesOfReply({ baseUrl: 'http://10.0.0.1' })
    expect(shown(nowhere, { type: 'document', url: '/f/1', name: 'a.pdf' })).toBe('a.pdf')
    expect(nowhere.offered).toEqual([{ type: 'document', name: 'a.pdf' }])
    expect([nowhere.lacksFilesUrl, reply().lacksFilesUrl]).toEqual([true, false])
  })

  test('has neither credentials nor marks that disguise its name, in the list as in the text', () => {
    const files = reply()
    const made: MadeFile = {
      type: 'document',
      url: 'https://ada:secret@cdn.example.com/f/1',
      name: 'in/invoice\u202egpj.exe',
    }
    expect(shown(files, made)).toBe('[invoicegpj.exe](https://cdn.example.com/f/1)')
    expect(shown(files, { type: 'document', url: `${ORIGIN}/a%E2%80%AEgpj.exe` })).toBe(
      `\n\n[agpj.exe](${ORIGIN}/a%E2%80%AEgpj.exe)`,
    )
    expect(shown(files, { type: 'document', url: `${ORIGIN}/b`, name: 'a&#x202e;gpj.exe' })).toBe(
      `\n\n[a&amp;#x202e;gpj.exe](${ORIGIN}/b)`,
    )
    expect(files.offered[0]).toEqual({
      type: 'document',
      url: 'https://cdn.example.com/f/1',
      name: 'invoicegpj.exe',
    })
  })

  test('is named without the private address of a platform that is public', () => {
    const files = new FilesOfReply({ baseUrl: 'https://dify.example.com/v1' })
    expect(shown(files, { ...picture, url: 'http://10.0.0.5:9000/chart.png' })).toBe('chart.png')
    expect([files.offered[0]?.url, files.lacksFilesUrl]).toEqual([undefined, true])
  })

  test('that is carried by the reply is named, without its bytes', () => {
    const files = reply()
    expect(shown(files, { type: 'image', url: 'data:image/png;base64,YQ==', mediaType: 'image/png' })).toBe(
      'image',
    )
    expect(files.offered).toEqual([{ type: 'image', media_type: 'image/png' }])
  })

  test('is one of a bounded number', () => {
    const files = reply()
    for (let n = 0; n < 2 * FILES_OF_REPLY_MAX; n += 1) files.take({ type: 'image', url: `/f/${n}` })
    expect(files.offered).toHaveLength(FILES_OF_REPLY_MAX)
  })

  test('that is kept has its new address in the text and in the list, and one that is not keeps its own', async () => {
    const files = reply()
    files.saw('Two:')
    const other: MadeFile = { type: 'document', url: '/b.pdf', name: 'b.pdf' }
    files.take(picture)
    files.take(other)
    const events = await keepFiles(files, {
      keep: async ({ name }) =>
        name === picture.name
          ? { url: 'https://gateway/files/1', name: 'chart.png', mediaType: 'image/png', size: 3 }
          : undefined,
    })
    expect(events).toEqual([
      { type: 'text', text: '\n\n![chart.png](https://gateway/files/1)' },
      { type: 'text', text: `\n\n[b.pdf](${ORIGIN}/b.pdf)` },
    ])
    expect(files.offered.map(({ url }) => url)).toEqual(['https://gateway/files/1', `${ORIGIN}/b.pdf`])
  })
})

test('no name and no address ends the Markdown that shows it', () => {
  fc.assert(
    fc.property(fc.string(), fc.webUrl({ withQueryParameters: true, withFragments: true }), (name, url) => {
      const text = fileText({ type: 'image', name, url: `${url}) (b)` })
      expect(text).toMatch(/^!\[[^[\]\n]*\]\([^()\s]*\)$/)
    }),
  )
})
