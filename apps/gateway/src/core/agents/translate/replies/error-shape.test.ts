import { expect, test } from 'vitest'
import { errorIn } from './error-shape.ts'

const MESSAGE = 'the engine broke'

test.each([
  ['an object', { error: { message: MESSAGE, code: 7 } }, 7],
  ['a text', { error: MESSAGE }, undefined],
  ['a list', { errors: [{ msg: MESSAGE }] }, undefined],
  ['a body that is a list', [{ error: { message: MESSAGE, code: 7 } }], 7],
  ['an object within another', { error: { error: { message: MESSAGE } } }, undefined],
  ['a flag beside its text', { error: true, message: MESSAGE, code: 7 }, 7],
  ['a number beside its text', { error: 7, detail: MESSAGE }, 7],
  ['called one, whatever its code', { error: { message: MESSAGE, code: 0 } }, 0],
  ['known by its status', { message: MESSAGE, status: 503 }, 503],
  ['flat', { object: 'error', message: MESSAGE, code: 7 }, 7],
  ['flat without a word', { error_msg: MESSAGE, error_code: 7 }, 7],
  ['a list of a validator', { detail: [{ loc: ['body'], msg: MESSAGE }] }, undefined],
  ['a text in an object', { message: { text: MESSAGE } }, undefined],
  [
    'in an envelope',
    { Response: { Error: { Code: 'FailedOperation', Message: MESSAGE } } },
    'FailedOperation',
  ],
  [
    'an outcome beside an answer that is none',
    { choices: null, base_resp: { status_code: 1013, status_msg: MESSAGE } },
    'base_resp 1013',
  ],
  ['an outcome in a header', { header: { code: 10012, message: MESSAGE } }, 'header 10012'],
])('an error may be %s', (_form, value, code) => {
  expect(errorIn(value, false)).toMatchObject({ message: MESSAGE, ...(code !== undefined && { code }) })
})

test.each([
  [{ error: null }],
  [{ error: '' }],
  [{ error: {} }],
  [{ error: [] }],
  [{ error: false }],
  [{ error: 0 }],
  [{ error: { message: '', type: '', param: '', code: null } }],
  [{ error: { message: '', code: 0 } }],
  [{ errors: [null, {}, ''] }],
  [{ error: { message: 'success', code: 0 } }],
  [{ error: 'none' }],
  [{ base_resp: { status_code: 0, status_msg: 'success' } }],
  [{ header: { code: 0, message: 'Success', sid: 'x' } }],
])('%j beside an answer is no error', (value) => {
  expect(errorIn(value, true)).toBeUndefined()
})

test.each([
  [{ message: 'ok', code: 0 }],
  [{ msg: 'success', code: 200 }],
  [{ id: 'x' }],
  [{ status: 'processing' }],
  [{ code: 'queued' }],
  [null],
  ['text'],
])('%j is none either', (value) => {
  expect(errorIn(value, false)).toBeUndefined()
})

test('a text beside an answer is none, but what is called an error is', () => {
  expect(errorIn({ message: MESSAGE }, true)).toBeUndefined()
  expect(errorIn({ error: { message: MESSAGE } }, true)).toMatchObject({ message: MESSAGE })
})
