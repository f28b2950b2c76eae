import { expect, test } from 'vitest'
import { timesOfRequest } from './request-time.ts'

const NOW = new Date('2026-11-22T10:00:00Z')

test('a UUIDv7 is looked for around its own time', () => {
  // 0x019d0000_0000 milliseconds after 1970.
  const at = 0x019d_0000_0000
  expect(timesOfRequest('019d0000-0000-774b-bcce-b302099a8057', NOW)).toEqual({
    from: new Date(at - 3_600_000).toISOString(),
    to: new Date(at + 86_400_000).toISOString(),
  })
  expect(timesOfRequest('019D0000-0000-774B-BCCE-B302099A8057', NOW)).toBeDefined()
})

test.each([
  'ticket-42',
  '019d0000-0000-474b-bcce-b302099a8057',
  '019d0000-0000-774b-0cce-b302099a8057',
  // 1970 and 10889: no clock made these.
  '00000000-0000-774b-bcce-b302099a8057',
  'ffffffff-ffff-774b-bcce-b302099a8057',
])('the request id %s carries no time to look around', (id) => {
  expect(timesOfRequest(id, NOW)).toBeUndefined()
})
