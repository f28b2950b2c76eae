import { expect, test } from 'vitest'
import { byteaArray, int4Array, uuidArray } from './binary-arrays.ts'

test('arrays have the bytes that PostgreSQL reads', () => {
  expect(int4Array([7, -2]).toString('hex')).toBe(
    ['00000001', '00000000', '00000017', '00000002', '00000001', '00000004', '00000007', '00000004']
      .concat('fffffffe')
      .join(''),
  )
  expect(uuidArray(['01890a5d-ac96-774b-bcce-b302099a8057']).toString('hex')).toBe(
    '00000001000000000000' + '0b860000000100000001' + '0000001001890a5dac96774bbcceb302099a8057',
  )
  expect(byteaArray([Buffer.from([255]), null, Buffer.alloc(0)]).toString('hex')).toBe(
    ['00000001', '00000000', '00000011', '00000003', '00000001', '00000001ff', 'ffffffff', '00000000'].join(
      '',
    ),
  )
})

test('what is no UUID is refused and not sent as another one', () => {
  expect(() => uuidArray(['01890a5d-ac96-774b'])).toThrow('not a UUID')
})
