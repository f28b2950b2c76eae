import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type ErrorReason, Problem } from './errors.ts'
import { LIMIT_NAMES } from './limit-names.ts'

const SOURCES = join(import.meta.dirname, '../..')
const REFUSAL =
  /(?:fail|new Problem)\(\s*'(?:rate_limited|unavailable)'(?:,\s*(?<options>\{(?:\$\{[^}]*\}|[^{}])*\}|\w+))?/g

const sources = globSync('**/*.ts', {
  cwd: SOURCES,
  exclude: ['generated/**', '**/*.test.ts', '**/*.test-support.ts'],
})

const texts = new Map(sources.map((file) => [file, readFileSync(join(SOURCES, file), 'utf8')]))
const all = [...texts.values()].join('\n')

/** Whether the options of a refusal name the limit themselves, or are a constant or a call that does, in any file. */
function namesLimit(options: string | undefined): boolean {
  if (options === undefined) return false
  if (options.startsWith('{')) return /\blimit\b/.test(options)
  return new RegExp(`(?:const ${options} = |function ${options}\\()[^}]*\\blimit\\b`).test(all)
}

test('whatever is rate_limited or unavailable names what refuses it', () => {
  const found = [...texts].flatMap(([file, text]) =>
    [...text.matchAll(REFUSAL)].map(({ 0: refusal, groups }) => ({
      refusal: `${file}: ${refusal}`,
      isNamed: namesLimit(groups?.options),
    })),
  )
  expect(found.length).toBeGreaterThan(20)
  expect(found.filter(({ isNamed }) => !isNamed)).toEqual([])
})

test.each<[ErrorReason, string | undefined]>([
  ['quota_exceeded', 'quota'],
  ['agent_overloaded', 'agent_slots'],
  ['operation_too_large', 'operation_size'],
  ['upload_space_used_up', 'upload_space'],
  ['draining', 'draining'],
  ['invalid_request', undefined],
])('the reason %s alone names the limit %s', (reason, limit) => {
  expect(new Problem(reason).limit).toBe(limit)
})

test('the limit and the requester stay when a face names the fields of a problem in another way', () => {
  const problem = new Problem('rate_limited', { field: ['a'], limit: 'chat' }).refusing({ ownerId: 'owner' })
  const others = [
    problem.at(['b']),
    problem.with([new Problem('invalid_request', { field: ['c'], detail: 'is wrong.' })]),
    problem.replaced({ field: ['d'], text: 'is wrong.' }, []),
  ]
  for (const other of others) expect([other.limit, other.refused]).toEqual(['chat', { ownerId: 'owner' }])
})

test('what is known of the requester is completed and never replaced', () => {
  const problem = new Problem('key_revoked').refusing({ keyId: 'key', ownerId: 'owner' })
  expect(problem.refusing({ keyId: 'other', agent: 'dify' }).refused).toEqual({
    keyId: 'key',
    ownerId: 'owner',
    agent: 'dify',
  })
})

test('the names of limits are distinct', () => {
  expect(new Set(LIMIT_NAMES).size).toBe(LIMIT_NAMES.length)
})
