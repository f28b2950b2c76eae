import fc from 'fast-check'
import { expect, test } from 'vitest'
import { InFlight } from './in-flight.ts'

test('holds the items that were added and not removed, in any order of operations', () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.nat())), (steps) => {
      const roster = new InFlight<number>()
      const present: { item: number; leave: () => void }[] = []
      for (const [item, step] of steps.entries()) {
        // A number removes one of the items; anything else adds one.
        if (step === null || present.length === 0) present.push({ item, leave: roster.add(item) })
        else present.splice(step % present.length, 1)[0]?.leave()
        expect(roster.size).toBe(present.length)
        expect(new Set(roster.all())).toEqual(new Set(present.map((each) => each.item)))
      }
    }),
  )
})

test('items may be removed during iteration', () => {
  const roster = new InFlight<string>()
  const leave = new Map(['a', 'b', 'c'].map((item) => [item, roster.add(item)]))
  const seen: string[] = []
  for (const item of roster.all()) {
    seen.push(item)
    leave.get(item)?.()
  }
  expect(seen).toEqual(['a', 'b', 'c'])
  expect(roster.size).toBe(0)
})
