import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cleanMessage } from './clean-message.ts'

test.each([
  ['see https://host.example:8443/x?key=1 now', 'see … now'],
  ['key sk-proj-Ab12 and sk-***xyz', 'key … and …'],
  ['app-0a1b2c3d4e5f6071 fastgpt-abc pat_Zx9', '… … …'],
  ['Authorization: Bearer abc.def', 'Authorization: …'],
  ['token eyJhbGciOi.eyJzdWIiOi.c2ln', 'token …'],
  ['id 9b1deb4d3b7d4bad9bdd2b0d7b3dcb6d', 'id …'],
  ['connect 10.0.0.5:5432', 'connect …'],
  ['connect models.internal:8000 or localhost:11434', 'connect … or …'],
  ['two\r\n\tlines\u0000\u2028 \u202eend', 'two lines end'],
  ['The app-level limit is 4096 tokens.', 'The app-level limit is 4096 tokens.'],
])('%j becomes %j', (text, clean) => {
  expect(cleanMessage(text)).toBe(clean)
})

test('an empty message becomes undefined', () => {
  expect(cleanMessage(' \n ')).toBeUndefined()
})

test('any message becomes one well-formed line of at most 300 characters', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 2500 }), (text) => {
      const clean = cleanMessage(text) ?? ''
      expect(Array.from(clean).length).toBeLessThanOrEqual(300)
      expect(clean.isWellFormed()).toBe(true)
      expect(clean).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u)
    }),
    { numRuns: 200, seed: 1 },
  )
})
