import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'

// A process, because the last line must reach a pipe, or a full disk, before the exit of the process that has written it.

const LOGGER = join(import.meta.dirname, 'logger.ts')
const programOf = (body: string) => `
import { createLogger } from ${JSON.stringify(LOGGER)}
const log = createLogger('info')
${body}`
const TWO_LINES = programOf(`log.info('first'); setTimeout(() => log.info('last'), 300)`)
const args = (program: string) => ['--input-type=module', '--eval', program]

/** Runs a process that logs a line, continues, and logs another one just before it exits. */
const run = (stdout: number | 'pipe') =>
  spawnSync(process.execPath, args(TWO_LINES), { stdio: ['ignore', stdout, 'pipe'], timeout: 30_000 })

const messagesOf = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).msg)

test('buffered lines are written before the process exits', () => {
  const { status, stdout } = run('pipe')
  expect(status).toBe(0)
  expect(messagesOf(stdout.toString())).toEqual(['first', 'last'])
})

test('buffered lines are written to a file before the process exits', () => {
  const directory = mkdtempSync(join(tmpdir(), 'trunkline-log-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const file = join(directory, 'log')
  expect(run(openSync(file, 'w')).status).toBe(0)
  expect(messagesOf(readFileSync(file, 'utf8'))).toEqual(['first', 'last'])
})

test.skipIf(!existsSync('/dev/full'))(
  'a full disk under the log neither ends the process nor delays its exit',
  () => {
    const { status, stderr } = run(openSync('/dev/full', 'w'))
    expect([status, stderr.toString()]).toEqual([0, ''])
  },
)
