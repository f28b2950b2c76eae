import { readFile } from 'node:fs/promises'
import { AUDIT_OPERATIONS, AUDIT_TARGETS } from '@trunkline/gateway/src/core/audit/operations.ts'
import { expect, test } from 'vitest'
import { messages as en } from '../../apps/console/messages/en.ts'
import { messages as zh } from '../../apps/console/messages/zh.ts'

test.each([en, zh])('the console has a text for each operation and target of the audit log', ({ audit }) => {
  const keys = AUDIT_OPERATIONS.map((operation) => operation.replace('.', '_'))
  expect(Object.keys(audit.operations).sort()).toEqual(keys.toSorted())
  expect(Object.keys(audit.targets).sort()).toEqual(AUDIT_TARGETS.toSorted())
})

test('the page about the audit log lists its operations', async () => {
  const page = await readFile(new URL('../../docs/audit.md', import.meta.url), 'utf8')
  const row = page.split('\n').find((line) => line.startsWith('| `operation`')) ?? ''
  const listed = [...row.matchAll(/`([\w.]+)`/g)].map(([, name]) => name).slice(1)
  expect(listed).toEqual([...AUDIT_OPERATIONS])
})
