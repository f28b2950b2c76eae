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

test('without a hash every password is rejected, even that of the dummy hash', async () => {
  expect(await passwords.verify(undefined, 'no password matches this hash')).toBe(false)
})

test('a password of an unknown user takes as long to check as a wrong one', async () => {
  const hash = await passwords.hash('correct horse battery staple')
  await passwords.verify(undefined, 'warm')
  // In turns, and the fastest of several runs, because slower ones also measure the load of the machine.
  const times: { known: number; unknown: number }[] = []
  for (let run = 0; run < 8; run += 1) {
    times.push({
      known: await timeOf(() => passwords.verify(hash, 'wrong')),
      unknown: await timeOf(() => passwords.verify(undefined, 'wrong')),
    })
  }
  const ratio =
    Math.min(...times.map(({ unknown }) => unknown)) / Math.min(...times.map(({ known }) => known))
  expect(ratio).toBeGreaterThan(0.5)
  expect(ratio).toBeLessThan(2)
})

async function timeOf(task: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await task()
  return performance.now() - started
}
