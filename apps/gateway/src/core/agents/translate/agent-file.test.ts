import { expect, test } from 'vitest'
import { agentFile, describeFile } from './agent-file.ts'

test.each([
  ['photo.JPEG', 'image'],
  ['报告.pdf', 'document'],
  ['notes.md', 'document'],
  ['a.tar.gz', 'custom'],
  ['clip.webm', 'video'],
  ['voice.m4a', 'audio'],
  ['pdf', 'custom'],
  ['.pdf', 'custom'],
])('a file named %s is of the kind %s', (name, kind) => {
  expect(describeFile(name)).toEqual({ name, kind })
})

test('a file has a name even if its URL has none', () => {
  const url = 'https://x.example/'
  expect(agentFile(url)).toEqual({ url, name: 'file', kind: 'custom' })
})

test('a name that is not valid percent-encoding stays as it is', () => {
  expect(agentFile('https://x.example/100%.png')).toMatchObject({ name: '100%.png', kind: 'image' })
})
