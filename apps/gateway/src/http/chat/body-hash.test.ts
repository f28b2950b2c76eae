import { hash } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { bodyHash } from './body-hash.ts'

/** The JSON of a value with its keys sorted. Objects have no prototype, so that `__proto__` is a key like any other. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const fields = Object.create(null) as Record<string, unknown>
  for (const [name, field] of Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) {
    fields[name] = sorted(field)
  }
  return fields
}

/** JSON with the keys of every object in the opposite order. */
function reversedText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(reversedText).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const fields = Object.entries(value).map(
    ([name, field]) => `${JSON.stringify(name)}:${reversedText(field)}`,
  )
  return `{${fields.reverse().join(',')}}`
}

test('two JSON texts have the same hash exactly if they hold the same values, whatever the order of the keys', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
      expect(bodyHash(JSON.parse(reversedText(one)))).toBe(bodyHash(JSON.parse(JSON.stringify(one))))
      const areSame = JSON.stringify(sorted(one)) === JSON.stringify(sorted(other))
      expect(bodyHash(one) === bodyHash(other)).toBe(areSame)
    }),
  )
})

test.each([
  ['{"a":{"c":1,"b":2},"d":[{"f":3,"e":4}]}', '{"d":[{"e":4,"f":3}],"a":{"b":2,"c":1}}'],
  ['{"a":1,"__proto__":{"b":2}}', '{"__proto__":{"b":2},"a":1}'],
  ['{"10":1,"9":2,"a":3}', '{"a":3,"9":2,"10":1}'],
  ['{"a":1.0,"b":1e2,"c":-0}', '{"c":0,"b":100,"a":1}'],
  ['"\\u0041\\n"', '"A\\u000a"'],
])('the body %s has the same hash as %s', (one, other) => {
  expect(bodyHash(JSON.parse(one))).toBe(bodyHash(JSON.parse(other)))
})

test.each([
  ['[1,2]', '[2,1]'],
  ['{"a":[]}', '{"a":{}}'],
  ['{"a":null}', '{}'],
  ['{"a":1}', '{"a":"1"}'],
  ['{"a":"true"}', '{"a":true}'],
  ['{"a":1e400}', '{"a":null}'],
  ['{"a":1e400}', '{"a":-1e400}'],
  ['{"a":"b","c":"d"}', '{"a":"b\\",\\"c\\":\\"d"}'],
  ['{"__proto__":{"a":1}}', '{"__proto__":{"a":2}}'],
  ['{"__proto__":null}', '{}'],
  ['"\\ud800"', '"\\ud801"'],
  ['"\\ud800"', '"\\ufffd"'],
  ['["a",["b"]]', '["a","b"]'],
  ['{"a":{"b":1},"c":2}', '{"a":{"b":1,"c":2}}'],
])('the body %s has another hash than %s', (one, other) => {
  expect(bodyHash(JSON.parse(one))).not.toBe(bodyHash(JSON.parse(other)))
})

test('the hash of a body is the SHA-256 of its JSON with sorted keys', () => {
  const json = '{"a":[1,true,null,"x\\"y"],"b":{"c":"文"}}'
  expect(bodyHash({ b: { c: '文' }, a: [1, true, null, 'x"y'] })).toBe(hash('sha256', json, 'hex'))
})

test('a field that is undefined counts as absent, and so does an absent body as null', () => {
  expect(bodyHash({ a: 1, b: undefined })).toBe(bodyHash({ a: 1 }))
  expect(bodyHash(undefined)).toBe(bodyHash(null))
})
