import { expect, test } from 'vitest'
import { limitsOf } from './limits.test-support.ts'
import { createRefusedDocuments } from './refused-documents.ts'

test('an address is closed with its last refusal, for the rest of the window, and no other address is', async () => {
  let nowMs = 1_000_000
  const refused = createRefusedDocuments({
    limits: limitsOf({ points: 3, windowSeconds: 60 }),
    runtime: { now: () => new Date(nowMs) },
  })
  for (let count = 0; count < 2; count += 1) await refused.count('192.0.2.1')
  expect(refused.closedSeconds('192.0.2.1')).toBeUndefined()

  await refused.count('192.0.2.1')
  expect(refused.closedSeconds('192.0.2.1')).toBe(60)
  expect(refused.closedSeconds('::ffff:192.0.2.1')).toBe(60)
  expect(refused.closedSeconds('192.0.2.2')).toBeUndefined()

  nowMs += 59_500
  expect(refused.closedSeconds('192.0.2.1')).toBe(1)
  nowMs += 500
  expect(refused.closedSeconds('192.0.2.1')).toBeUndefined()
})

test('a process that learns from the shared count closes the address as well', async () => {
  const limits = limitsOf({ points: 1, windowSeconds: 60 })
  const runtime = { now: () => new Date(0) }
  const here = createRefusedDocuments({ limits, runtime })
  const there = createRefusedDocuments({ limits, runtime })
  await here.count('2001:db8::1')
  expect(there.closedSeconds('2001:db8::2')).toBeUndefined()
  await there.count('2001:db8::2')
  expect(there.closedSeconds('2001:db8::3')).toBe(60)
})
