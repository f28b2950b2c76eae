import * as conventions from '@opentelemetry/semantic-conventions/incubating'
import { expect, test } from 'vitest'
import { CONVENTIONAL, INVOKE_AGENT, OWN } from './names.ts'

test('the names that are not ours are those of the semantic conventions', () => {
  const known = new Set(
    Object.entries(conventions).flatMap(([name, value]) => (name.startsWith('ATTR_') ? [value] : [])),
  )
  for (const name of Object.values(CONVENTIONAL)) expect([...known], name).toContain(name)
  expect(INVOKE_AGENT).toBe(conventions.GEN_AI_OPERATION_NAME_VALUE_INVOKE_AGENT)
})

test('our own names have our prefix, and none is used twice', () => {
  const own = Object.values(OWN)
  expect(own.filter((name) => !/^trunkline\.[a-z_.]+$/.test(name))).toEqual([])
  const all = [...own, ...Object.values(CONVENTIONAL)]
  expect(new Set(all).size).toBe(all.length)
})
