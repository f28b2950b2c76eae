import { expect, test } from 'vitest'
import { linkParts } from './link-parts.ts'

const links = (text: string) => linkParts(text).flatMap(({ href }) => href ?? [])

test.each([
  ['See https://example.com/a?b=1#c.', 'https://example.com/a?b=1#c'],
  ['(https://example.com/a)', 'https://example.com/a'],
  ['[name](https://example.com/a), and', 'https://example.com/a'],
  ['请看https://example.com/路径。然后', 'https://example.com/路径'],
  ['“And https://example.com/”', 'https://example.com/'],
  ['**http://example.com**', 'http://example.com'],
])('of the text %s the link is %s', (text, href) => expect(links(text)).toEqual([href]))

test.each(['javascript:alert(1)', 'data:text/html,x', 'https://', '<b>bold</b>'])(
  'the text %s has no link',
  (text) => expect(links(text)).toEqual([]),
)

test('the parts of a text with links, put together, are the text', () => {
  const text = 'a https://example.com/x, b\nhttp://example.org/y!'
  expect(
    linkParts(text)
      .map((part) => part.text)
      .join(''),
  ).toBe(text)
})
