import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Drift } from '#core/ledger/verify.ts'
import { createLogger } from './logger.ts'
import { createMaintenance, type Maintenance } from './maintenance.ts'
import { createMetrics } from './metrics.ts'

const EVERY_MS = 600_000
const drift: Drift = { equation: 'ledger = rollups', subject: '2026-11-20 done', expected: 2, found: 1 }

const verify = vi.fn(async (): Promise<Drift[]> => [])
const prune = vi.fn(async () => 0)
const pruneNames = vi.fn(async () => 0)
const sweepConversations = vi.fn(async () => 0)
const sweepInstances = vi.fn(async () => 0)
const sweepUploads = vi.fn(async () => 0)
const sweepOrphans = vi.fn(async () => ({ files: 0, records: 0, unfinished: 0, suspicious: 0 }))
const metrics = createMetrics()
let maintenance: Maintenance

beforeEach(() => {
  vi.useFakeTimers()
  vi.clearAllMocks()
  maintenance = createMaintenance({
    usage: { verify, prune, pruneNames },
    conversations: { sweep: sweepConversations },
    instances: { sweep: sweepInstances },
    uploads: { expired: sweepUploads, orphans: sweepOrphans },
    metrics,
    log: createLogger('silent'),
  })
  maintenance.start()
})
afterEach(() => {
  maintenance.stop()
  vi.useRealTimers()
})

test('the number of violated equations is a metric, which falls when they hold again', async () => {
  verify.mockResolvedValueOnce([drift, drift])
  await vi.advanceTimersByTimeAsync(EVERY_MS)
  expect(await metrics.text()).toContain('trunkline_usage_drift 2\n')
  await vi.advanceTimersByTimeAsync(EVERY_MS)
  expect(await metrics.text()).toContain('trunkline_usage_drift 0\n')
})

test('rows past their retention are deleted in bounded batches until none is left', async () => {
  for (const deletion of [prune, pruneNames, sweepConversations, sweepInstances, sweepUploads])
    deletion.mockResolvedValueOnce(5_000).mockResolvedValueOnce(12)
  await vi.advanceTimersByTimeAsync(EVERY_MS)
  expect(prune).toHaveBeenCalledTimes(3)
  expect(pruneNames).toHaveBeenCalledTimes(3)
  expect(sweepConversations).toHaveBeenCalledTimes(3)
  expect(sweepInstances).toHaveBeenCalledTimes(3)
  expect(sweepUploads).toHaveBeenCalledTimes(3)
})

test('a task that fails stops neither the other tasks nor the next round', async () => {
  prune.mockRejectedValueOnce(new Error('no database'))
  await vi.advanceTimersByTimeAsync(EVERY_MS)
  expect(verify).toHaveBeenCalledTimes(1)
  await vi.advanceTimersByTimeAsync(EVERY_MS)
  expect(prune).toHaveBeenCalledTimes(2)
})

test('the storage is compared with the records every six hours', async () => {
  await vi.advanceTimersByTimeAsync(35 * EVERY_MS)
  expect(sweepOrphans).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(EVERY_MS)
  expect(sweepOrphans).toHaveBeenCalledTimes(1)
})

test('stopping takes effect at once, even during a round', async () => {
  prune.mockImplementation(async () => {
    maintenance.stop()
    return 5_000
  })
  await vi.advanceTimersByTimeAsync(3 * EVERY_MS)
  expect(prune).toHaveBeenCalledTimes(1)
})
