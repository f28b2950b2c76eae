import { execFileSync } from 'node:child_process'
import { closeSync, constants, existsSync, mkdtempSync, openSync, readSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { LogOutput } from './log-output.ts'

// A process, because Node makes no named pipe: `mkfifo` does.

const LINE = `${'x'.repeat(999)}\n`
/** Twice as many lines as are buffered. */
const TOO_MANY = 2_000

/** A pipe, of which the test decides when it is read. */
function openPipe() {
  const directory = mkdtempSync(join(tmpdir(), 'trunkline-log-'))
  const path = join(directory, 'pipe')
  execFileSync('mkfifo', [path])
  const readFd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  const fd = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK)
  onTestFinished(() => {
    closeSync(readFd)
    rmSync(directory, { recursive: true })
  })
  const buffer = Buffer.alloc(64 * 1024)
  const takeAll = () => {
    let text = ''
    try {
      for (let count = -1; count !== 0; ) {
        count = readSync(readFd, buffer)
        text += buffer.toString('utf8', 0, count)
      }
    } catch {
      // Nothing is left to read at the moment.
    }
    return text
  }
  /** Reads until the promise is settled. */
  const readUntil = async (end: Promise<unknown>) => {
    let text = ''
    let isOver = false
    void end.finally(() => {
      isOver = true
    })
    while (!isOver) {
      await nextTurn()
      text += takeAll()
    }
    return text + takeAll()
  }
  return { output: new LogOutput({ fd, isBlocking: false }), takeAll, readUntil }
}

test('lines are written in order, and closing writes the rest', async () => {
  const { output, readUntil } = openPipe()
  const lines = Array.from({ length: 500 }, (_, index) => `${'é'.repeat(index)}${index}\n`)
  for (const line of lines) output.write(line)
  expect(await readUntil(output.close())).toBe(lines.join(''))
  output.write('too late\n')
})

test('a write is made of whole lines, so that processes can share a pipe', () => {
  const { output, takeAll } = openPipe()
  for (let index = 0; index < TOO_MANY; index += 1) output.write(LINE)
  // The pipe is full.
  expect(takeAll().endsWith(LINE)).toBe(true)
})

test('lines wait while the reader pauses, and lines beyond a bound are dropped, counted and reported once', async () => {
  const { output, readUntil } = openPipe()
  const missing: number[] = []
  output.onRecovery = (count) => {
    missing.push(count)
    output.write(`${count} are missing\n`)
  }
  for (let index = 0; index < TOO_MANY; index += 1) output.write(LINE)
  const dropped = output.droppedLines
  expect(dropped).toBeGreaterThan(TOO_MANY / 3)
  expect(missing).toEqual([])

  const before = await readUntil(output.ready())
  output.write('after\n')
  const after = await readUntil(output.close())
  expect(missing).toEqual([dropped])
  expect(output.droppedLines).toBe(dropped)
  expect(before + after).toBe(`${LINE.repeat(TOO_MANY - dropped)}${dropped} are missing\nafter\n`)
})

test('each line of a text that is too long is counted', () => {
  const { output } = openPipe()
  output.write(LINE.repeat(TOO_MANY))
  expect(output.droppedLines).toBe(TOO_MANY)
})

test('closing gives up on a reader that reads nothing', async () => {
  const { output, takeAll } = openPipe()
  for (let index = 0; index < TOO_MANY; index += 1) output.write(LINE)
  await output.close()
  expect(takeAll().length).toBeLessThan(128 * 1024)
})

test.skipIf(!existsSync('/dev/full')).each([true, false])(
  'a full disk ends neither the process nor the wait for its close',
  async (isBlocking) => {
    const output = new LogOutput({ fd: openSync('/dev/full', 'w'), isBlocking })
    for (let index = 0; index < TOO_MANY; index += 1) output.write(LINE)
    expect(output.droppedLines).toBeGreaterThan(0)
    await output.close()
  },
)
