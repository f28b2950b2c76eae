import fc from 'fast-check'
import { expect, test } from 'vitest'
import { InFlight } from './in-flight.ts'

test('what is in flight are the items that were added and not removed, after any order of operations', () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.nat())), (steps) => {
      const inFlight = new InFlight<number>()
      const present: { item: number; leave: () => void }[] = []
      for (const [item, step] of steps.entries()) {
        // A number removes one of the items; anything else adds one.
        if (step === null || present.length === 0) present.push({ item, leave: inFlight.add(item) })
        else present.splice(step % present.length, 1)[0]?.leave()
        expect(inFlight.size).toBe(present.length)
        expect(new Set(inFlight.all())).toEqual(new Set(present.map((each) => each.item)))
      }
    }),
  )
})

test('items in flight may be removed during an iteration over them', () => {
  const inFlight = new InFlight<string>()
  const leave = new Map(['a', 'b', 'c'].map((item) => [item, inFlight.add(item)]))
  const seen: string[] = []
  for (const item of inFlight.all()) {
    seen.push(item)
    leave.get(item)?.()
  }
  expect(seen).toEqual(['a', 'b', 'c'])
  expect(inFlight.size).toBe(0)
})
