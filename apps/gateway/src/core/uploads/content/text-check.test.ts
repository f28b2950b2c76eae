import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ACCEPTED_UPLOADS } from '#config/settings.ts'
import { Problem } from '#core/base/errors/errors.ts'
import { createTypeCheck, SAMPLE_BYTES } from './file-type.ts'
import { TextCheck } from './text-check.ts'

const numRuns = process.env.SOAK ? 10_000 : 100
const check = createTypeCheck(ACCEPTED_UPLOADS)

/** `姓名,金额\n张三,€5\n` and a character of four bytes. */
const GB18030 = Buffer.from('d0d5c3fb2cbdf0b6ee0ad5c5c8fd2ca2e3350a95328236', 'hex')
const UTF_16LE = Buffer.from('\ufeff姓名,金额\n😀', 'utf16le')
const UTF_16BE = Buffer.from(UTF_16LE).swap16()
const UTF_8 = Buffer.from('姓名,金额\n😀é\t\f\r\n\x1b[31m')

test.each([
  ['UTF-8', UTF_8, 'text/csv; charset=utf-8'],
  ['UTF-8 with a byte order mark', Buffer.concat([Buffer.from('\ufeff'), UTF_8]), 'text/csv; charset=utf-8'],
  ['UTF-16 LE', UTF_16LE, 'text/csv; charset=utf-16le'],
  ['UTF-16 BE', UTF_16BE, 'text/csv; charset=utf-16be'],
  ['GB18030', GB18030, 'text/csv'],
])('%s is text, however it is cut', async (_, content, mediaType) => {
  const type = await check(content, 'a.csv')
  expect(type.mediaType).toBe(mediaType)
  fc.assert(
    fc.property(fc.array(fc.nat(content.length)), (cuts) => {
      expect(() => readAll(content, cuts)).not.toThrow()
    }),
    { numRuns },
  )
})

test.each([
  ['UTF-8', UTF_8.subarray(0, UTF_8.indexOf('é') + 1)],
  ['UTF-16', UTF_16LE.subarray(0, -1)],
  ['GB18030', GB18030.subarray(0, -1)],
])('%s that ends within a character is refused at its end', async (_, content) => {
  const text = new TextCheck(content)
  text.feed(content)
  expect(() => text.end()).toThrow(Problem)
  await expect(check(content, 'a.txt')).rejects.toThrow(Problem)
})

test.each([
  ['NUL', Buffer.from([0])],
  ['DEL', Buffer.from([0x7f])],
  ['bytes that no encoding has', Buffer.from([0xff, 0xff])],
])('%s late in a long text is refused', async (_, late) => {
  const line = Buffer.from('some text\n'.repeat(7_000))
  const type = await check(line.subarray(0, SAMPLE_BYTES), 'a.txt')
  const text = type.text ?? expect.fail('The sample is text.')
  for (let sent = 0; sent < 20; sent++) text.feed(line)
  expect(() => text.feed(late)).toThrow(Problem)
  expect(() => text.feed(line)).toThrow(Problem)
  expect(() => text.end()).toThrow(Problem)
})

test('the sample may end within a character', async () => {
  const long = Buffer.from(`a${'中'.repeat(SAMPLE_BYTES)}`)
  const { text, mediaType } = await check(long.subarray(0, SAMPLE_BYTES), 'a.txt')
  expect(mediaType).toMatch(/^text\/plain/)
  text?.feed(long)
  expect(() => text?.end()).not.toThrow()
})

test('the encoding is named only if the rest of the file cannot change it', async () => {
  const ascii = Buffer.alloc(SAMPLE_BYTES, 'a,b\n')
  expect((await check(ascii, 'a.csv')).mediaType).toBe('text/csv')
  expect((await check(ascii.subarray(1), 'a.csv')).mediaType).toBe('text/csv; charset=utf-8')
  const chinese = Buffer.alloc(SAMPLE_BYTES, '中文件\n')
  expect((await check(chinese, 'a.csv')).mediaType).toBe('text/csv; charset=utf-8')

  const { text } = await check(ascii, 'a.csv')
  text?.feed(ascii)
  text?.feed(GB18030)
  expect(() => text?.end()).not.toThrow()
})

test('UTF-16 without a byte order mark, UTF-32 and random bytes are not text', async () => {
  const utf32 = Buffer.from([0xff, 0xfe, 0, 0, 0x61, 0, 0, 0])
  for (const content of [UTF_16LE.subarray(2), utf32, Buffer.from('a\ud800', 'utf16le')]) {
    await expect(check(content, 'a.txt')).rejects.toThrow(Problem)
  }
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ minLength: 400, maxLength: 2_000 }), async (content) => {
      // The first byte keeps the random ones from looking like another type.
      await expect(
        check(Buffer.concat([Buffer.from('x'), content, Buffer.from([0])]), 'a.txt'),
      ).rejects.toThrow(Problem)
    }),
    { numRuns },
  )
})

test('every text is text', async () => {
  // Surrogates that stand alone cannot be written in UTF-8.
  const anyText = fc.string({ unit: 'binary', minLength: 1 }).map((text) => text.replace(/\p{Cc}/gu, '\n'))
  await fc.assert(
    fc.asyncProperty(anyText, fc.array(fc.nat(200)), async (text, cuts) => {
      const content = Buffer.from(`:${text}`)
      const type = await check(content, 'a.txt')
      expect(type.mediaType).toBe('text/plain; charset=utf-8')
      expect(() => readAll(content, cuts)).not.toThrow()
    }),
    { numRuns },
  )
})

function readAll(content: Buffer, cuts: readonly number[]): void {
  const text = new TextCheck(content)
  const ends = [...cuts, content.length].toSorted((a, b) => a - b)
  for (const [index, end] of ends.entries()) text.feed(content.subarray(ends[index - 1] ?? 0, end))
  text.end()
}
