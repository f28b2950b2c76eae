import { expect, test } from 'vitest'
import { ClientLabels, clientVersion } from './client-version.ts'

const read = (value: unknown) => clientVersion({ 'trunkline-client': value })

test('the version of an SDK is read, and its last part is left out of metrics', () => {
  expect(read('js/0.1.0')).toEqual({ full: 'js/0.1.0', minor: 'js/0.1' })
  expect(read('js/12.3.45-beta.1')).toEqual({ full: 'js/12.3.45-beta.1', minor: 'js/12.3' })
})

test.each([
  undefined,
  '',
  'js',
  'js/1',
  'js/1.2',
  'js/1234.0.0',
  'py/1.2.3',
  'js/1.2.3\n',
  'js/1.2.3 x',
  ['js/1.2.3'],
])('anything else is no version: %j', (value) => {
  expect(read(value)).toBeUndefined()
})

test('metrics have a bounded number of versions, whatever clients tell', () => {
  const labels = new ClientLabels(2)
  const told = ['js/1.0.0', 'js/1.1.0', 'js/1.2.0', 'js/1.0.7'].map((value) => {
    const version = read(value)
    return version && labels.of(version)
  })
  expect(told).toEqual(['js/1.0', 'js/1.1', 'other', 'js/1.0'])
})
