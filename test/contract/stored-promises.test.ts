import { readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { expect, test } from 'vitest'
import { findUnhandledPromises } from '../support/contract/stored-promises.ts'

const ROOT = join(import.meta.dirname, '../..')

test('the gateway stores or discards no promise without a rejection handler', () => {
  const ofGateway = (file: string) =>
    file.includes('/apps/gateway/src/') && !/\.test\.|\.test-support\.|-fixture\.|\/generated\//.test(file)
  const findings = findUnhandledPromises(join(ROOT, 'tsconfig.json'), ofGateway)
  expect(findings.map(({ file, line, code }) => `${relative(ROOT, file)}:${line} ${code}`)).toEqual([])
})

test('the search finds exactly the marked promises of the fixture', async () => {
  const fixture = join(ROOT, 'test/fixtures/promises')
  const findings = findUnhandledPromises(join(fixture, 'tsconfig.json'), (file) => file.startsWith(fixture))
  const source = await readFile(join(fixture, 'promises.ts'), 'utf8')
  const expected = source.split('\n').flatMap((text, index) => (text.endsWith('// lost') ? [index + 1] : []))
  expect(findings.map(({ line }) => line)).toEqual(expected)
})
