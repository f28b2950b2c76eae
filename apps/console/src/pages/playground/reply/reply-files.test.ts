import type { ReplyFile } from '@trunkline/sdk'
import { expect, test } from 'vitest'
import { filesBesideText, isOwnFile } from './reply-files.ts'

const ORIGIN = 'https://gateway.test'

test.each([
  ['https://gateway.test/files/token/chart.png', true],
  ['https://gateway.test/base/files/token/chart.png', true],
  ['https://gateway.test/api/v1/calls', false],
  ['http://gateway.test/files/token/chart.png', false],
  ['https://gateway.test.evil.example/files/token/chart.png', false],
  ['https://gateway.test@evil.example/files/token/chart.png', false],
  ['/files/token/chart.png', false],
  ['javascript:alert(1)', false],
  ['', false],
])('whether %s is a file of this gateway: %s', (url, expected) => {
  expect(isOwnFile(url, ORIGIN)).toBe(expected)
})

const namesBeside = (text: string, ...files: ReplyFile[]) =>
  filesBesideText(files, text).map(({ name }) => name)

test('what the text shows already is not shown again', () => {
  const [shown, hidden] = ['a', 'b'].map((name) => ({
    type: 'image' as const,
    name,
    url: `${ORIGIN}/${name}`,
  }))
  expect(shown && hidden && namesBeside(`Here: ![a](${ORIGIN}/a)`, shown, hidden)).toEqual(['b'])
  const url = `${ORIGIN}/chart (1).png`
  expect(namesBeside(`![](${ORIGIN}/chart%20%281%29.png)`, { type: 'image', url })).toEqual([])
})

test('a file without a name has that of its address', () => {
  expect(namesBeside('', { type: 'document', url: `${ORIGIN}/%E6%8A%A5%E5%91%8A.pdf?sign=1` })).toEqual([
    '报告.pdf',
  ])
  expect(namesBeside('', { type: 'document', url: `${ORIGIN}/%E6.pdf` })).toEqual(['%E6.pdf'])
  expect(namesBeside('', { type: 'document', url: ORIGIN })).toEqual([ORIGIN])
})

test.each([undefined, 'data:image/png;base64,AA==', 'javascript:alert(1)', 'chart.png'])(
  'what cannot be opened is left out: %s',
  (url) => {
    expect(namesBeside('', { type: 'image', ...(url !== undefined && { url }) })).toEqual([])
  },
)
