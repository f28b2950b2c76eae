import * as argon2 from '@node-rs/argon2'
import { expect, test } from 'vitest'
import { createPasswords } from './passwords.ts'

const passwords = createPasswords()

test('passwords are hashed by argon2id with the first set of parameters that OWASP recommends', async () => {
  const hash = await passwords.hash('correct horse battery staple')
  expect(hash).toMatch(/^\$argon2id\$/)
  expect(argon2.parseOptions(hash)).toMatchObject({ memoryCost: 19_456, timeCost: 2, parallelism: 1 })
  expect(await passwords.verify(hash, 'correct horse battery staple')).toBe(true)
  expect(await passwords.verify(hash, 'correct horse battery stapler')).toBe(false)
})

test('without a hash every password is rejected, even that of the dummy hash', async () => {
  expect(await passwords.verify(undefined, 'no password matches this hash')).toBe(false)
})

test('a password of an unknown user is checked by as much hashing as a wrong one', async () => {
  const checked: string[] = []
  const counting = createPasswords(undefined, {
    hash: argon2.hash,
    verify(hash, ...rest) {
      checked.push(hash.toString())
      return argon2.verify(hash, ...rest)
    },
  })
  const hash = await counting.hash('correct horse battery staple')
  expect(await counting.verify(hash, 'wrong')).toBe(false)
  expect(await counting.verify(undefined, 'wrong')).toBe(false)
  const [known, unknown, ...others] = checked.map(argon2.parseOptions)
  expect(unknown).toEqual(known)
  expect(known).toBeDefined()
  expect(others).toEqual([])
})
