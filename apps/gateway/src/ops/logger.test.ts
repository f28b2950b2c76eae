import { spawnSync } from 'node:child_process'
import { existsSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const LOGGER = join(import.meta.dirname, 'logger.ts')
const PROGRAM = `
import { createLogger } from ${JSON.stringify(LOGGER)}
const log = createLogger('info')
log.info('first')
setTimeout(() => log.info('last'), 300)`

/** A process of its own that logs a line, lives on, and ends with another. */
const run = (stdout: number | 'pipe') =>
  spawnSync(process.execPath, ['--input-type=module', '--eval', PROGRAM], {
    stdio: ['ignore', stdout, 'pipe'],
    timeout: 30_000,
  })

test('lines that were gathered are written before the process ends', () => {
  const { status, stdout } = run('pipe')
  expect(status).toBe(0)
  const lines = stdout.toString().trimEnd().split('\n')
  expect(lines.map((line) => JSON.parse(line).msg)).toEqual(['first', 'last'])
})

test.skipIf(!existsSync('/dev/full'))('a full disk under the log ends nothing and holds up no end', () => {
  const { status, stderr } = run(openSync('/dev/full', 'w'))
  expect([status, stderr.toString()]).toEqual([0, ''])
})
