import { expect, test } from 'vitest'
import { newPassword } from './new-password.ts'

test('passwords have twenty characters that cannot be mistaken for one another, and are never the same', () => {
  const passwords = Array.from({ length: 200 }, newPassword)
  expect(new Set(passwords).size).toBe(200)
  for (const password of passwords) expect(password).toMatch(/^[a-km-zA-HJ-NP-Z2-9]{20}$/)
  const used = new Set(passwords.join(''))
  expect(used.size).toBe(56)
})
