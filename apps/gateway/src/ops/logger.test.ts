import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'

const LOGGER = join(import.meta.dirname, 'logger.ts')
const programOf = (body: string) => `
import { createLogger } from ${JSON.stringify(LOGGER)}
const log = createLogger('info')
${body}`
const TWO_LINES = programOf(`log.info('first'); setTimeout(() => log.info('last'), 300)`)
const args = (program: string) => ['--input-type=module', '--eval', program]

/** A process of its own that logs a line, lives on, and ends with another. */
const run = (stdout: number | 'pipe') =>
  spawnSync(process.execPath, args(TWO_LINES), { stdio: ['ignore', stdout, 'pipe'], timeout: 30_000 })

const messagesOf = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).msg)

test('lines that were gathered are written before the process ends', () => {
  const { status, stdout } = run('pipe')
  expect(status).toBe(0)
  expect(messagesOf(stdout.toString())).toEqual(['first', 'last'])
})

test('into a file as well', () => {
  const directory = mkdtempSync(join(tmpdir(), 'trunkline-log-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const file = join(directory, 'log')
  expect(run(openSync(file, 'w')).status).toBe(0)
  expect(messagesOf(readFileSync(file, 'utf8'))).toEqual(['first', 'last'])
})

test.skipIf(!existsSync('/dev/full'))('a full disk under the log ends nothing and delays no end', () => {
  const { status, stderr } = run(openSync('/dev/full', 'w'))
  expect([status, stderr.toString()]).toEqual([0, ''])
})
