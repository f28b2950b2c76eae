import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

// A process, because the generators are run as the command does, and nothing of them remains in a worker of other tests.

const GENERATE = join(import.meta.dirname, '../../scripts/generate.ts')

test('the committed generated sources are those that the generators write', async () => {
  const { stderr } = await promisify(execFile)(process.execPath, [GENERATE, '--check'])
  expect(stderr).toBe('')
})
