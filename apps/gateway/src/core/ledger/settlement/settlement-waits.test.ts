import { expect, test } from 'vitest'
import { SettlementWaits } from './settlement-waits.ts'

test('a settlement ends the waits of all readers of its call, and of no other', async () => {
  const waits = new SettlementWaits()
  const [first, second, other] = [waits.begin('a'), waits.begin('a'), waits.begin('b')]
  waits.end('a')
  await Promise.all([first.written, second.written])
  const isOver = await Promise.race([other.written.then(() => true), Promise.resolve(false)])
  expect(isOver).toBe(false)
})

test('readers that leave do not end the waits of the others, and leave nothing behind', async () => {
  const waits = new SettlementWaits()
  const [first, second] = [waits.begin('a'), waits.begin('a')]
  first.leave()
  expect(waits.size).toBe(1)
  waits.end('a')
  await second.written
  second.leave()
  expect(waits.size).toBe(0)

  const [third, fourth] = [waits.begin('a'), waits.begin('a')]
  third.leave()
  fourth.leave()
  expect(waits.size).toBe(0)
})

test('a reader that leaves late does not end the wait of a later one', async () => {
  const waits = new SettlementWaits()
  const first = waits.begin('a')
  waits.end('a')
  const second = waits.begin('a')
  first.leave()
  waits.end('a')
  await second.written
})
