import { StatusError } from '@trunkline/sdk'
import { expect, test } from 'vitest'
import { statusError } from '../../packages/sdk/src/transport/status-error.ts'
import { CONTRACT } from '../support/contract/contract.ts'

test('every status of an error in the contract has a class of its own', () => {
  const statuses = Object.entries(CONTRACT.paths)
    // The others serve browsers and operators.
    .filter(([path]) => path.startsWith('/api/v1/'))
    .flatMap(([, methods]) => Object.values(methods))
    .flatMap(({ responses }) => Object.keys(responses).map(Number))
    .filter((status) => status >= 400)
  const classes = new Map(
    [...new Set(statuses)].map((status) => [
      status,
      statusError({ status, headers: new Headers() }, {}).constructor,
    ]),
  )
  expect([...classes].filter(([, of]) => of === StatusError)).toEqual([])
  expect(new Set(classes.values()).size).toBe(classes.size)
})
