import { expect, test } from 'vitest'
import { LatestValue } from './latest-value.ts'

test('a reader gets the latest value, and waits for the next one', async () => {
  const values = new LatestValue<number>()
  values.set(1)
  values.set(2)
  expect(await values.next()).toEqual({ value: 2, done: false })
  const [first, second] = [values.next(), values.next()]
  values.set(3)
  values.set(4)
  expect([await first, await second]).toEqual([
    { value: 3, done: false },
    { value: 4, done: false },
  ])
})

test('an error comes after the value that was not read yet, and once', async () => {
  let closed = 0
  const values = new LatestValue<number>(() => {
    closed += 1
  })
  values.set(1)
  values.fail(new Error('the end'))
  values.set(2)
  expect(await values.next()).toEqual({ value: 1, done: false })
  await expect(values.next()).rejects.toThrow('the end')
  expect(await values.next()).toEqual({ value: undefined, done: true })
  expect(closed).toBe(1)
})

test('a reader that waits gets the error, and the others the end', async () => {
  const values = new LatestValue<number>()
  const waiting = [values.next(), values.next()]
  values.fail(new Error('the end'))
  const results = await Promise.allSettled(waiting)
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
})

test('a reader that leaves gets nothing more, and closes the iterator once', async () => {
  let closed = 0
  const values = new LatestValue<number>(() => {
    closed += 1
  })
  const waiting = values.next()
  await values.return()
  await values.return()
  values.set(1)
  values.fail(new Error('too late'))
  expect(await waiting).toEqual({ value: undefined, done: true })
  expect(await values.next()).toEqual({ value: undefined, done: true })
  expect(closed).toBe(1)
})
