import { expect, test } from 'vitest'
import { Problem } from '#core/base/errors/errors.ts'
import { OperatorError } from '#core/base/errors/operator-error.ts'
import type { FieldPath } from '#core/base/values/field-path.ts'
import { refusalLine } from './refusal-line.ts'

const refused = (field: FieldPath, detail: string) =>
  refusalLine(new Problem('invalid_request', { field, detail }))

test('a field has the name of its option or argument', () => {
  expect(refused(['expiresAt'], 'expected a time.')).toBe('--expires-at: expected a time.')
  expect(refused(['allowedAgents', 2], 'expected an agent.')).toBe('--agents[2]: expected an agent.')
  expect(refused(['username'], 'expected letters.')).toBe('username: expected letters.')
  expect(refusalLine(new Problem('key_not_found'))).toBe('This API key does not exist.')
})

test('a message is one line even if it quotes line breaks', () => {
  expect(refusalLine(new OperatorError('no file a\n  b\r\nc\u2028d'))).toBe('no file a b c d')
})

test('for a server with several addresses, the line shows the error of the first', () => {
  const refusals = ['::1', '127.0.0.1'].map((address) =>
    Object.assign(new Error(`connect ECONNREFUSED ${address}:5432`), { code: 'ECONNREFUSED' }),
  )
  const error = Object.assign(new AggregateError(refusals, ''), { code: 'ECONNREFUSED' })
  expect(refusalLine(error)).toBe('The database does not answer: connect ECONNREFUSED ::1:5432.')
})

test('a database that takes no writes is said to be one, with its reason', () => {
  const failing = (code: string, message: string) => Object.assign(new Error(message), { code })
  expect(refusalLine(failing('25006', 'cannot execute INSERT'))).toBe(
    'The database takes no writes: it is read only.',
  )
  expect(refusalLine(failing('42501', 'permission denied for table users'))).toBe(
    'The database takes no writes: permission denied for table users.',
  )
})

test('an error of the program itself has no such line', () => {
  expect(refusalLine(new TypeError('x is not a function'))).toBeUndefined()
})
