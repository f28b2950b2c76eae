import { expect, test } from 'vitest'
import { LogOutput } from './log-output.ts'
import type { LogSink } from './log-sink.ts'

const LINE = `${'x'.repeat(999)}\n`
/** Twice as many lines as are buffered. */
const TOO_MANY = 2_000

/** A sink that accepts as many bytes as the test gives it room for. */
function reader(chunkBytesMax = 4_096) {
  let room = 0
  let text = ''
  const writes: number[] = []
  const writeSync = (bytes: Buffer) => {
    const taken = Math.min(room, bytes.length)
    if (taken === 0) throw Object.assign(new Error('no room'), { code: 'EAGAIN' })
    room -= taken
    text += bytes.subarray(0, taken).toString()
    writes.push(taken)
    return taken
  }
  const sink: LogSink = { write: writeSync, writeSync, chunkBytesMax }
  return {
    sink,
    writes,
    get text() {
      return text
    },
    takes(bytes: number) {
      room = bytes
    },
  }
}

test('lines are written in order, and no write ends within a line', async () => {
  const stdout = reader()
  stdout.takes(Number.POSITIVE_INFINITY)
  const output = new LogOutput(stdout.sink)
  const lines = Array.from({ length: 100 }, (_, index) => `${'é'.repeat(index * 10)}${index}\n`)
  for (const line of lines) output.write(line)
  await output.close()
  expect(stdout.text).toBe(lines.join(''))
  expect(Math.max(...stdout.writes)).toBeLessThanOrEqual(4_096)
})

test('a partial write continues where it ended', async () => {
  const stdout = reader()
  stdout.takes(1_500)
  const output = new LogOutput(stdout.sink)
  for (let index = 0; index < 10; index += 1) output.write(LINE)
  expect(stdout.text).toBe(LINE + LINE.slice(0, 500))
  stdout.takes(Number.POSITIVE_INFINITY)
  await output.close()
  expect(stdout.text).toBe(LINE.repeat(10))
})

test('lines are buffered up to a bound while the reader pauses, and later lines are dropped, counted and reported once', async () => {
  const stdout = reader()
  const output = new LogOutput(stdout.sink)
  const missing: number[] = []
  output.onRecovery = (count) => {
    missing.push(count)
    output.write(`${count} are missing\n`)
  }
  for (let index = 0; index < TOO_MANY; index += 1) output.write(LINE)
  const dropped = output.droppedLines
  expect(dropped).toBeGreaterThan(TOO_MANY / 3)
  expect(missing).toEqual([])

  stdout.takes(Number.POSITIVE_INFINITY)
  await output.ready()
  output.write('after\n')
  await output.close()
  expect(missing).toEqual([dropped])
  expect(output.droppedLines).toBe(dropped)
  // The report is written at the gap: after the buffered lines and before the later ones.
  expect(stdout.text).toBe(`${LINE.repeat(TOO_MANY - dropped)}${dropped} are missing\nafter\n`)
})

test('a single text over the bound is dropped, and later lines are written', async () => {
  const stdout = reader()
  stdout.takes(Number.POSITIVE_INFINITY)
  const output = new LogOutput(stdout.sink)
  output.write(LINE.repeat(TOO_MANY))
  expect(output.droppedLines).toBe(1)
  await output.close()
  output.write(LINE)
  await output.close()
  expect(stdout.text).toBe(LINE)
})

test('closing gives up on a reader that reads nothing', async () => {
  const stdout = reader()
  const output = new LogOutput(stdout.sink)
  output.write(LINE)
  await output.close()
  expect(stdout.text).toBe('')
})

test('closing does not wait for a full disk', async () => {
  let tries = 0
  const full = () => {
    tries += 1
    throw Object.assign(new Error('no space'), { code: 'ENOSPC' })
  }
  const output = new LogOutput({ write: full, writeSync: full, chunkBytesMax: 4_096 })
  output.write(LINE)
  await output.close()
  // Each wait would end with another one.
  expect(tries).toBe(1)
})

test('at most one write to a file runs at a time', async () => {
  let underWay = 0
  let mostUnderWay = 0
  let text = ''
  const output = new LogOutput({
    async write(bytes) {
      underWay += 1
      mostUnderWay = Math.max(mostUnderWay, underWay)
      await new Promise(setImmediate)
      underWay -= 1
      text += bytes.toString()
      return bytes.length
    },
    writeSync: (bytes) => bytes.length,
    chunkBytesMax: 4_096,
  })
  for (let index = 0; index < 50; index += 1) output.write(LINE)
  await output.close()
  expect(mostUnderWay).toBe(1)
  expect(text).toBe(LINE.repeat(50))
})
