import fc from 'fast-check'
import { expect, test } from 'vitest'
import { withoutCredentials } from './without-credentials.ts'

test.each([
  ['https://ada:secret@files.example.com/a%20b.png?x=@#@', 'https://files.example.com/a%20b.png?x=@#@'],
  ['https://ada@files.example.com', 'https://files.example.com'],
  ['HTTP://a:b@c:d@Files.example.com:8080/a', 'HTTP://Files.example.com:8080/a'],
  [' s3://key:secret@bucket/a.png', ' s3://bucket/a.png'],
  ['https:\\\\ada:secret@files.example.com\\a', 'https:\\\\files.example.com\\a'],
  ['https:ada:secret@files.example.com/a', 'https:files.example.com/a'],
  // What only a parser recognizes is written as it was understood.
  ['ht\ntps://ada:secret@files.example.com/a', 'https://files.example.com/a'],
  ['https://ada:my secret@files.example.com/a', 'https://files.example.com/a'],
  // It is no URL, and yet names both.
  ['https://ada:secret@files.example.com:99999/a', 'https://files.example.com:99999/a'],
])('%j is %j without them', (url, without) => {
  expect(withoutCredentials(url)).toBe(without)
})

test.each([
  '',
  'mailto:ada@example.com',
  'ada@example.com',
  'https://files.example.com/@ada?to=a@b.example',
  '/files/@ada',
  '//files.example.com/a@b',
  'see https://ada:secret@example.com',
])('%j stays as it is', (text) => {
  expect(withoutCredentials(text)).toBe(text)
})

test('no URL has any afterwards', () => {
  const authority = fc.webUrl({ authoritySettings: { withUserInfo: true, withPort: true } })
  fc.assert(
    fc.property(
      fc.oneof(
        authority,
        fc.string().map((text) => `http://${text}`),
      ),
      (url) => {
        const parsed = URL.parse(withoutCredentials(url))
        expect(`${parsed?.username ?? ''}${parsed?.password ?? ''}`).toBe('')
      },
    ),
  )
})
