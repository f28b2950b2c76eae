import { expect, test } from 'vitest'
import { createTurnstile } from './semaphore.ts'

test('at most so many tasks run at a time, in the order they came, and a failure frees its place', async () => {
  const inTurn = createTurnstile(2)
  const started: number[] = []
  const gates = [0, 1, 2, 3].map(() => Promise.withResolvers<void>())
  const tasks = gates.map((gate, index) =>
    inTurn(async () => {
      started.push(index)
      await gate.promise
    }),
  )
  expect(started).toEqual([0, 1])
  gates[1]?.reject(new Error('failed'))
  await expect(tasks[1]).rejects.toThrow('failed')
  expect(started).toEqual([0, 1, 2])
  for (const gate of gates) gate.resolve()
  await Promise.allSettled(tasks)
  expect(started).toEqual([0, 1, 2, 3])
  expect(await inTurn(async () => 'free')).toBe('free')
})
