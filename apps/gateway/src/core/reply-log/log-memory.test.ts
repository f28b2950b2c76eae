import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { countEvents, withoutEvents } from './event-text.ts'
import { LogMemory } from './log-memory.ts'

function eventsOf(text: string) {
  return { text, count: countEvents(text) }
}

function event(number: number, bytes = 10): string {
  return `${String(number).padEnd(bytes - 2, '.')}\n\n`
}

test('a part is the same until it is known to be stored, so that a repetition of it does no harm', () => {
  const memory = new LogMemory()
  memory.append(eventsOf(event(1)))
  const part = memory.part()
  memory.append(eventsOf(event(2) + event(3)))
  expect(memory.part()).toBe(part)
  expect(memory.parts()).toEqual([
    { first: 1, count: 1, text: event(1) },
    { first: 2, count: 2, text: event(2) + event(3) },
  ])
  memory.markStored(1)
  expect(memory.part()).toEqual({ first: 2, count: 2, text: event(2) + event(3) })
  memory.markStored(3)
  expect(memory.part()).toBeUndefined()
  expect(memory.unstoredBytes).toBe(0)
})

test('what is stored is kept only near the end', () => {
  const memory = new LogMemory()
  for (let number = 1; number <= 1_000; number += 1) memory.append(eventsOf(event(number, 1_000)))
  expect(memory.holds(0)).toBe(true)
  memory.part()
  memory.markStored(1_000)
  expect(memory.holds(0)).toBe(false)
  expect(memory.holds(990)).toBe(true)
  expect(memory.holds(1_000)).toBe(true)
  expect(memory.holds(2_000)).toBe(true)
  expect(memory.read(1_000)).toBeUndefined()
})

describe('whatever is appended, stored and read in whichever order', () => {
  const steps = fc.array(
    fc.oneof(
      fc.record({ append: fc.array(fc.integer({ min: 10, max: 40_000 }), { minLength: 1, maxLength: 4 }) }),
      fc.constant('store' as const),
      fc.record({ read: fc.nat(60) }),
    ),
    { maxLength: 40 },
  )

  test('readers get exactly the events after theirs, and the parts are the log', () => {
    fc.assert(
      fc.property(steps, (all) => {
        const memory = new LogMemory()
        let log = ''
        let stored = ''
        for (const step of all) {
          if (step === 'store') {
            const part = memory.part()
            if (part === undefined) continue
            stored += part.text
            memory.markStored(part.first + part.count - 1)
          } else if ('append' in step) {
            const first = memory.last + 1
            const text = step.append.map((bytes, index) => event(first + index, bytes)).join('')
            log += text
            memory.append(eventsOf(text))
          } else if (memory.holds(step.read)) {
            expect(memory.read(step.read)?.text ?? '').toBe(withoutEvents(log, step.read))
          }
          expect(log.startsWith(stored)).toBe(true)
          expect(memory.unstoredBytes).toBe(log.length - stored.length)
        }
      }),
    )
  })
})
