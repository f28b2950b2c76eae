import type { LookupAddress } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { expect, test } from 'vitest'
import { createSystemLookup, systemLookup } from './system-lookup.ts'

const FOUND: LookupAddress[] = [{ address: '192.0.2.1', family: 4 }]

function scripted() {
  const asked: string[] = []
  const answers = new Map<string, PromiseWithResolvers<LookupAddress[]>>()
  const lookupFor = createSystemLookup((name) => {
    const answer = Promise.withResolvers<LookupAddress[]>()
    asked.push(name)
    answers.set(name, answer)
    return answer.promise
  })
  return { asked, lookupFor, answer: (name: string) => answers.get(name)?.resolve(FOUND) }
}

function find(lookup: LookupFunction, name: string): Promise<unknown> {
  return new Promise((resolve) =>
    lookup(name, { all: true }, (error, addresses) =>
      resolve(error === null ? addresses : (error.code ?? error)),
    ),
  )
}

test('two names are looked up at once, and the next when one of them has been found', async () => {
  const { asked, lookupFor, answer } = scripted()
  const lookup = lookupFor(60_000)
  const found = ['a', 'b', 'c', 'd'].map((name) => find(lookup, name))
  expect(asked).toEqual(['a', 'b'])
  answer('b')
  expect(await found[1]).toEqual(FOUND)
  expect(asked).toEqual(['a', 'b', 'c'])
  for (const name of ['a', 'c']) answer(name)
  await Promise.all([found[0], found[2]])
  answer('d')
  expect(await found[3]).toEqual(FOUND)
})

test('a name is looked up once for all who need it', async () => {
  const { asked, lookupFor, answer } = scripted()
  const found = Array.from({ length: 10 }, () => find(lookupFor(60_000), 'a'))
  answer('a')
  expect(await Promise.all(found)).toEqual(Array(10).fill(FOUND))
  expect(asked).toEqual(['a'])
})

test('nobody waits for longer than the time limit, and what nobody waits for is not looked up', async () => {
  const { asked, lookupFor, answer } = scripted()
  const dead = ['dead-1', 'dead-2', 'late'].map((name) => find(lookupFor(20), name))
  expect(await Promise.all(dead)).toEqual(['ETIMEOUT', 'ETIMEOUT', 'ETIMEOUT'])
  const patient = find(lookupFor(60_000), 'patient')
  answer('dead-1')
  await expect.poll(() => asked).toEqual(['dead-1', 'dead-2', 'patient'])
  answer('patient')
  expect(await patient).toEqual(FOUND)
})

test('the system knows its own names', async () => {
  expect(await find(systemLookup(10_000), 'localhost')).toContainEqual({ address: '127.0.0.1', family: 4 })
})
