import { expect, test } from 'vitest'
import { markdownBlocks } from './markdown-blocks.ts'

test('paragraphs, headings and code are pieces, whose text is the whole text', () => {
  const blocks = ['# Title\n\n', 'One\nparagraph\n\n', '```js\na\n\nb\n```\n\n', 'Another']
  expect(markdownBlocks(blocks.join(''))).toEqual(blocks)
})

test('a list with blank lines, a quotation and a table are not torn apart', () => {
  for (const whole of [
    '1. one\n\n2. two\n\n   goes on\n\n- other',
    '> one\n\n> two',
    '| a |\n| - |\n\n| b |',
    '* one\n\n    code\n\n* two',
  ])
    expect(markdownBlocks(whole)).toEqual([whole])
})

test('a fence is closed only by one of its kind, at least as long, without words after it', () => {
  const whole = '````\n\n```\n\ntext\n\n~~~~\n\n```` js\n\nstill code'
  expect(markdownBlocks(whole)).toEqual([whole])
  expect(markdownBlocks(`${whole}\n\`\`\`\`\n\nText`)).toHaveLength(2)
})

test('an opening fence without an end keeps everything after it', () => {
  expect(markdownBlocks('Text\n\n```\ncode\n\nmore')).toEqual(['Text\n\n', '```\ncode\n\nmore'])
})

test('a text whose links are defined elsewhere in it is one piece', () => {
  const whole = 'See [it][1].\n\nMore.\n\n[1]: https://example.com'
  expect(markdownBlocks(whole)).toEqual([whole])
})

test('what has been divided once stays so while the text grows', () => {
  const text = '# Title\n\nText\n\n- a\n- b\n\nText\n\n```\ncode\n\ncode\n```\n\nEnd'
  let before: readonly string[] = []
  for (let length = 1; length <= text.length; length++) {
    const blocks = markdownBlocks(text.slice(0, length))
    expect(blocks.slice(0, before.length - 1)).toEqual(before.slice(0, -1))
    before = blocks
  }
})
