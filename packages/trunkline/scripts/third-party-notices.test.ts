import { expect, test } from 'vitest'
import { thirdPartyNotices } from './third-party-notices.ts'

const MIT = 'MIT License\n\nCopyright (c) 2026 Us\n\nPermission is hereby granted'
const of = (name: string, license: string, ...texts: string[]) => ({
  name,
  version: '1.0.0',
  license,
  author: name === 'a' ? 'Ada' : undefined,
  texts,
})

test('the notices have each text once, below the names of all packages that it applies to', () => {
  const notices = thirdPartyNotices([of('b', 'ISC', 'A text'), of('c', 'ISC', 'A text', 'A notice')], MIT)
  expect(notices).toContain('\nb 1.0.0 (ISC)\nc 1.0.0 (ISC)\n\nA text\n')
  expect(notices).toContain('\nc 1.0.0 (ISC)\n\nA notice\n')
  expect(notices.match(/A text/g)).toHaveLength(1)
})

test('the notices complete packages that name a licence without its text', () => {
  const packages = [
    of('a', 'MIT'),
    of('b', 'MIT'),
    of('c', 'Apache-2.0'),
    of('d', 'Apache-2.0', 'Apache License'),
  ]
  const notices = thirdPartyNotices(packages, MIT)
  expect(notices).toContain('\na 1.0.0 (MIT)\n\nMIT License\n\nCopyright (c) Ada\n')
  expect(notices).toContain('Copyright (c) the authors of b\n')
  expect(notices).toContain('\nc 1.0.0 (Apache-2.0)\nd 1.0.0 (Apache-2.0)\n\nApache License\n')
})

test('a package of whose licence there is no text is refused', () => {
  expect(() => thirdPartyNotices([of('a', 'Apache-2.0')], MIT)).toThrow(
    'a is under Apache-2.0, of which there is no text.',
  )
  expect(() => thirdPartyNotices([of('a', 'SEE LICENSE')], MIT)).toThrow('a is under SEE LICENSE')
})
