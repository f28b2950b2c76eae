import { expect, test } from 'vitest'
import { limitsOf } from './limits.test-support.ts'
import { createRefusedDocuments, type DocumentSender } from './refused-documents.ts'

const stranger = (address: string): DocumentSender => ({ kind: 'stranger', address })
const invalid = (address: string): DocumentSender => ({ kind: 'invalid credential', address })
const caller = (userId: string): DocumentSender => ({
  kind: 'caller',
  caller: { userId, role: 'user', via: { kind: 'token', tokenId: 't', expiresAt: new Date(0) } },
})

test('an address is closed with its last refusal, for the rest of the window, and no other address is', async () => {
  let nowMs = 1_000_000
  const refused = createRefusedDocuments({
    limits: limitsOf({ points: 3, windowSeconds: 60 }),
    runtime: { now: () => new Date(nowMs) },
  })
  for (let count = 0; count < 2; count += 1) await refused.count(stranger('192.0.2.1'))
  expect(refused.closedSeconds(stranger('192.0.2.1'))).toBeUndefined()

  await refused.count(stranger('192.0.2.1'))
  expect(refused.closedSeconds(stranger('192.0.2.1'))).toBe(60)
  expect(refused.closedSeconds(stranger('::ffff:192.0.2.1'))).toBe(60)
  expect(refused.closedSeconds(stranger('192.0.2.2'))).toBeUndefined()

  nowMs += 59_500
  expect(refused.closedSeconds(stranger('192.0.2.1'))).toBe(1)
  nowMs += 500
  expect(refused.closedSeconds(stranger('192.0.2.1'))).toBeUndefined()
})

test('a process that learns from the shared count closes the address as well', async () => {
  const limits = limitsOf({ points: 1, windowSeconds: 60 })
  const runtime = { now: () => new Date(0) }
  const here = createRefusedDocuments({ limits, runtime })
  const there = createRefusedDocuments({ limits, runtime })
  await here.count(stranger('2001:db8::1'))
  expect(there.closedSeconds(stranger('2001:db8::2'))).toBeUndefined()
  await there.count(stranger('2001:db8::2'))
  expect(there.closedSeconds(stranger('2001:db8::3'))).toBe(60)
})

test('each kind of sender is closed by its own documents, and a credential opens no door that strangers closed', async () => {
  const limits = limitsOf({ points: 1, windowSeconds: 60 })
  const senders = { stranger: stranger('192.0.2.1'), invalid: invalid('192.0.2.1'), caller: caller('u') }
  const closed: Record<string, string[]> = {}
  for (const [name, sender] of Object.entries(senders)) {
    const refused = createRefusedDocuments({ limits, runtime: { now: () => new Date(0) } })
    await refused.count(sender)
    const isClosed = ([, other]: [string, DocumentSender]) => refused.closedSeconds(other) !== undefined
    closed[name] = Object.entries({ ...senders, neighbour: caller('v') })
      .filter(isClosed)
      .map(([other]) => other)
  }
  expect(closed).toEqual({ stranger: ['stranger', 'invalid'], invalid: ['invalid'], caller: ['caller'] })
})
