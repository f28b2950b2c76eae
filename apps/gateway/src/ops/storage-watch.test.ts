import { pino } from 'pino'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createStorageWatch } from './storage-watch.ts'

const ping = vi.fn<() => Promise<void>>()
let lines: string[]

function startWatch() {
  lines = []
  const log = pino({ base: null }, { write: (line: string) => void lines.push(JSON.parse(line).msg) })
  const watch = createStorageWatch({ ping, runtime: { elapsedMs: () => performance.now() }, log })
  watch.start()
  return watch
}

beforeEach(() => {
  vi.useFakeTimers()
  ping.mockReset()
})
afterEach(() => vi.useRealTimers())

const REFUSED = 'uploads are refused until the storage of files answers: '

test.each<[string, () => Promise<void>, string]>([
  [
    'fails',
    () => Promise.reject(new Error('S3 at s3:9000 cannot be reached.')),
    'S3 at s3:9000 cannot be reached.',
  ],
  ['hangs', () => new Promise(() => undefined), 'no answer within 5000 ms'],
])('a storage that %s is logged once, and once when it is back', async (_, answer, reason) => {
  ping.mockImplementation(answer)
  const watch = startWatch()
  await vi.advanceTimersByTimeAsync(60_000)
  expect(ping.mock.calls.length).toBeGreaterThan(2)
  expect(lines).toEqual([REFUSED + reason])
  ping.mockResolvedValue()
  await vi.advanceTimersByTimeAsync(20_000)
  expect(lines.slice(1)).toEqual(['the storage of files answers again'])
  watch.stop()
})

test('a storage that answers is not mentioned, and is not asked after the end', async () => {
  ping.mockResolvedValue()
  const watch = startWatch()
  await vi.advanceTimersByTimeAsync(25_000)
  watch.stop()
  const asked = ping.mock.calls.length
  await vi.advanceTimersByTimeAsync(60_000)
  expect([lines, ping.mock.calls.length]).toEqual([[], asked])
})
