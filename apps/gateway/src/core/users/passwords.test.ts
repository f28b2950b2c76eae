import { parseOptions } from '@node-rs/argon2'
import { expect, test } from 'vitest'
import { createPasswords } from './passwords.ts'

const passwords = createPasswords()

test('passwords are hashed by argon2id with the first set of parameters that OWASP recommends', async () => {
  const hash = await passwords.hash('correct horse battery staple')
  expect(hash).toMatch(/^\$argon2id\$/)
  expect(parseOptions(hash)).toMatchObject({ memoryCost: 19_456, timeCost: 2, parallelism: 1 })
  expect(await passwords.verify(hash, 'correct horse battery staple')).toBe(true)
  expect(await passwords.verify(hash, 'correct horse battery stapler')).toBe(false)
})

test('without a hash every password is wrong, even that of the dummy hash', async () => {
  expect(await passwords.verify(undefined, 'no password matches this hash')).toBe(false)
})

test('a password of an unknown user takes as long to check as a wrong one', async () => {
  const hash = await passwords.hash('correct horse battery staple')
  await passwords.verify(undefined, 'warm')
  const known = await fastest(() => passwords.verify(hash, 'wrong'))
  const unknown = await fastest(() => passwords.verify(undefined, 'wrong'))
  expect(unknown / known).toBeGreaterThan(0.5)
  expect(unknown / known).toBeLessThan(2)
})

/** Returns the fastest of a few runs in ms, because slower ones also measure the load of the machine. */
async function fastest(task: () => Promise<unknown>): Promise<number> {
  const times: number[] = []
  for (let round = 0; round < 5; round += 1) {
    const start = performance.now()
    await task()
    times.push(performance.now() - start)
  }
  return Math.min(...times)
}
