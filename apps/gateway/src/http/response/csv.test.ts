import { once } from 'node:events'
import { stringify } from 'csv-stringify/sync'
import { array, assert, constantFrom, oneof, property, string } from 'fast-check'
import Fastify from 'fastify'
import { expect, test } from 'vitest'
import { type Cell, CSV_FORMAT, sendCsv } from './csv.ts'

const csvLine = (cells: readonly Cell[]) => stringify([cells], CSV_FORMAT)

test('any text is read back from the file unchanged, except for apostrophes before formulas', () => {
  const texts = array(oneof(string({ unit: 'binary' }), string({ unit: 'grapheme-ascii' })), { minLength: 1 })
  assert(
    property(texts, (cells) => {
      const line = csvLine(cells)
      expect(line.endsWith('\r\n')).toBe(true)
      const read = readLine(line.slice(0, -2))
      const withoutApostrophes = (texts: readonly string[]) => texts.map((text) => text.replaceAll("'", ''))
      expect(withoutApostrophes(read)).toEqual(withoutApostrophes(cells))
      const plain = cells.filter((cell) => !/[=+\-@＝＋－＠﹦﹢﹣﹫]/u.test(cell))
      expect(read).toEqual(expect.arrayContaining(plain))
    }),
  )
})

test.each([
  '=1+1',
  '+1',
  '-1',
  '@SUM(A1)',
  '＝1',
  '＋1',
  '－1',
  '＠A1',
  '\t=1',
  '﹦1',
  ' =1',
  '\u00a0@A1',
  '\u200b=1',
  '\ufeff\u2060 -1',
  '\u202e=1',
  "=cmd|'/C calc'!A0",
  '="x,y"',
])('a cell that begins like the formula %j is escaped as text', (formula) => {
  expect(readLine(csvLine([formula]).slice(0, -2))).toEqual([`'${formula}`])
})

test.each([
  [';=1+1', "';'=1+1"],
  [' ; +1', "' ; '+1"],
  ['name;=1+1', "name;'=1+1"],
  ['a;b; \u200b@A1;c', "a;b; \u200b'@A1;c"],
  ['first\n=1', "first\n'=1"],
  ['\n=1', "'\n'=1"],
])('a spreadsheet that separates by semicolons finds no formula in %j', (text, escaped) => {
  expect(readLine(csvLine([text]).slice(0, -2))).toEqual([escaped])
})

test('no cell is a formula, whether it ends at a comma, a semicolon or a line break', () => {
  const evil = string({ unit: constantFrom(...';,"= +-@\t\r\n\u200b\'a') })
  assert(
    property(array(evil, { minLength: 1 }), (cells) => {
      const line = csvLine(cells)
      for (const cell of [...readLine(line.slice(0, -2)), ...line.split(/[;\r\n]/).slice(1)])
        expect(cell).not.toMatch(/^[\s\u200b]*[=+\-@]/)
    }),
  )
})

test('signs within a text and dates stay as they are, and a long one takes linear time', () => {
  const texts = ['a = b; c', 'x-y', 'ada@example.com; b', '2026-01-01', 'a;b']
  expect(readLine(csvLine(texts).slice(0, -2))).toEqual(texts)
  for (const sign of [';', '\t', ' ', ' ;', '= '])
    expect(csvLine([`a${sign.repeat(100_000)}=`])).toContain(sign)
})

test('numbers, times and missing values are written without quotes, and a quote in a text is doubled', () => {
  const cells = [-1.5, 0, null, new Date(0), 'a "b"', 'c,d', 'e\nf', 'g\rh', '安娜', "it's = fine"]
  expect(csvLine(cells)).toBe(
    '-1.5,0,,1970-01-01T00:00:00.000Z,"a ""b""","c,d","e\nf","g\rh",安娜,it\'s = fine\r\n',
  )
})

test('rows are written while they arrive, and a reader that leaves closes their source', async () => {
  const app = Fastify()
  const row = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<void>()
  app.get('/', (_request, reply) =>
    sendCsv(
      reply,
      'calls',
      ['id'],
      (async function* () {
        try {
          await row.promise
          for (;;) yield ['x'.repeat(10_000)]
        } finally {
          ended.resolve()
        }
      })(),
    ),
  )
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  const leaving = new AbortController()
  const response = await fetch(url, { signal: leaving.signal })
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': 'attachment; filename="calls.csv"',
  })
  const reader = response.body?.getReader()
  // The header has arrived although the first row has not.
  expect(new TextDecoder().decode((await reader?.read())?.value)).toBe('id\r\n')
  row.resolve()
  await reader?.read()
  leaving.abort()
  await ended.promise
  const closed = once(app.server, 'close')
  await Promise.all([app.close(), closed])
})

/** RFC 4180, for one record. */
function readLine(line: string): string[] {
  return [...`,${line}`.matchAll(/,(?:"((?:[^"]|"")*)"|([^,"]*))/gy)].map(
    ([, quoted, plain = '']) => quoted?.replaceAll('""', '"') ?? plain,
  )
}
