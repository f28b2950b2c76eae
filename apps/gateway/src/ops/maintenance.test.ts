import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { ExpiringKeys } from '#core/accounts/keys/expiring-keys.ts'
import type { Claim } from '#core/ledger/maintenance-lease.ts'
import type { Drift } from '#core/ledger/verify.ts'
import { createLogger } from './logger.ts'
import { createMaintenance, type Maintenance } from './maintenance.ts'
import { createMetrics, type Metrics } from './metrics/metrics.ts'

const ASK_EVERY_MS = 60_000
const CHECKED_AT = new Date('2026-11-20T08:30:00Z')
const drift: Drift = { equation: 'ledger = rollups', subject: '2026-11-20 done', expected: 2, found: 1 }

const CLAIMED: Claim = { isClaimed: true, orphansAreDue: false, check: undefined }
const NOT_CLAIMED: Claim = { ...CLAIMED, isClaimed: false }

const verify = vi.fn(async (): Promise<Drift[]> => [])
const prune = vi.fn(async () => 0)
const pruneNames = vi.fn(async () => 0)
const sweepConversations = vi.fn(async () => 0)
const sweepInstances = vi.fn(async () => 0)
const sweepRefusals = vi.fn(async () => 0)
const sweepReplies = vi.fn(async () => 0)
const sweepKeys = vi.fn(async () => 0)
const revokeUnused = vi.fn(async () => 0)
const expiring = vi.fn(async (): Promise<ExpiringKeys[]> => [])
const mayTell = vi.fn(async () => true)
const warn = vi.fn()
const sweepUploads = vi.fn(async () => 0)
const sweepOrphans = vi.fn(async () => ({ files: 0, records: 0, unfinished: 0, suspicious: 0 }))
const addOmitted = vi.fn(async () => 0)
const cutAudit = vi.fn(async () => 0)
const auditHead = vi.fn(async () => undefined)
const claim = vi.fn(async (): Promise<Claim> => CLAIMED)
const isHeld = vi.fn(async () => true)
const end = vi.fn(async () => undefined)
let metrics: Metrics
let maintenance: Maintenance

beforeEach(() => {
  vi.useFakeTimers()
  vi.clearAllMocks()
  metrics = createMetrics()
  maintenance = createMaintenance({
    usage: { verify, prune, pruneNames },
    conversations: { sweep: sweepConversations },
    pauses: { sweep: async () => 0 },
    replies: { sweep: sweepReplies },
    instances: { sweep: sweepInstances },
    refusals: { sweep: sweepRefusals },
    keys: { sweep: sweepKeys, revokeUnused, expiring, mayTell },
    uploads: { expired: sweepUploads, orphans: sweepOrphans },
    audit: { addOmitted, cut: cutAudit, head: auditHead },
    lease: { claim, isHeld, end, recordCheck: async () => CHECKED_AT },
    metrics,
    log: Object.assign(createLogger('silent'), { warn }),
  })
  maintenance.start()
})
afterEach(() => {
  maintenance.stop()
  vi.useRealTimers()
})

test('the number of violated equations is a metric, absent before the first check, which falls when they hold again', async () => {
  expect(await metrics.text()).not.toMatch(/^trunkline_usage_drift/m)
  verify.mockResolvedValueOnce([drift, drift])
  await vi.advanceTimersByTimeAsync(ASK_EVERY_MS)
  const text = await metrics.text()
  expect(text).toContain('trunkline_usage_drift 2\n')
  expect(text).toContain(`trunkline_usage_drift_checked_timestamp_seconds ${CHECKED_AT.getTime() / 1000}\n`)
  await vi.advanceTimersByTimeAsync(ASK_EVERY_MS)
  expect(await metrics.text()).toContain('trunkline_usage_drift 0\n')
})

test('keys that expire soon are counted once an hour and logged by the process that may, and a count of long ago is shown no more', async () => {
  const first = [{ id: '1', name: 'bot', prefix: 'tl_0fQ7sXbV2' }]
  const found = [
    { days: 30, count: 2, first },
    { days: 7, count: 1, first },
    { days: 1, count: 0, first: [] },
  ]
  expiring.mockResolvedValueOnce(found)
  await vi.advanceTimersByTimeAsync(ASK_EVERY_MS)
  const text = await metrics.text()
  for (const { days, count } of found)
    expect(text).toContain(`trunkline_api_keys_expiring{within="${days}d"} ${count}\n`)
  expect(warn.mock.calls).toEqual([
    [{ days: 30, count: 2, keys: first }, 'API keys expire within 30 days'],
    [{ days: 7, count: 1, keys: first }, 'API keys expire within 7 days'],
  ])
  await vi.advanceTimersByTimeAsync(59 * 60_000)
  expect([expiring, revokeUnused].map(({ mock }) => mock.calls.length)).toEqual([1, 1])
  expiring.mockResolvedValueOnce(found)
  mayTell.mockResolvedValueOnce(false)
  await vi.advanceTimersByTimeAsync(2 * ASK_EVERY_MS)
  expect(expiring).toHaveBeenCalledTimes(2)
  expect(warn).toHaveBeenCalledTimes(2)
  claim.mockResolvedValue(NOT_CLAIMED)
  await vi.advanceTimersByTimeAsync(121 * 60_000)
  claim.mockResolvedValue(CLAIMED)
  expect(await metrics.text()).not.toMatch(/^trunkline_api_keys_expiring/m)
})

test('a process that does not get the maintenance does none of it, and shows the check of another', async () => {
  claim.mockResolvedValueOnce({ ...NOT_CLAIMED, check: { count: 4, checkedAt: CHECKED_AT } })
  await vi.advanceTimersByTimeAsync(ASK_EVERY_MS)
  expect(prune).not.toHaveBeenCalled()
  expect(verify).not.toHaveBeenCalled()
  expect(end).not.toHaveBeenCalled()
  expect(await metrics.text()).toContain('trunkline_usage_drift 4\n')
})

test('a process from which the maintenance was taken stops before the next part', async () => {
  isHeld.mockResolvedValueOnce(true).mockResolvedValueOnce(false)
  await vi.advanceTimersByTimeAsync(ASK_EVERY_MS)
  expect(prune).toHaveBeenCalledTimes(1)
  expect(pruneNames).not.toHaveBeenCalled()
  expect(end).not.toHaveBeenCalled()
})

test('rows past their retention are deleted in bounded batches until none is left', async () => {
  for (const deletion of [prune, pruneNames, sweepConversations, sweepInstances, sweepRefusals, sweepUploads])
    deletion.mockResolvedValueOnce(5_000).mockResolvedValueOnce(12)
  await vi.advanceTimersByTimeAsync(ASK_EVERY_MS)
  expect(prune).toHaveBeenCalledTimes(3)
  expect(pruneNames).toHaveBeenCalledTimes(3)
  expect(sweepConversations).toHaveBeenCalledTimes(3)
  expect(sweepInstances).toHaveBeenCalledTimes(3)
  expect(sweepUploads).toHaveBeenCalledTimes(3)
})

test('a task that fails stops neither the other tasks nor the next round', async () => {
  prune.mockRejectedValueOnce(new Error('no database'))
  await vi.advanceTimersByTimeAsync(ASK_EVERY_MS)
  expect(verify).toHaveBeenCalledTimes(1)
  expect(end).toHaveBeenCalledTimes(1)
  claim.mockRejectedValueOnce(new Error('no database'))
  await vi.advanceTimersByTimeAsync(2 * ASK_EVERY_MS)
  expect(prune).toHaveBeenCalledTimes(2)
})

test('the storage is compared with the records when that is due', async () => {
  await vi.advanceTimersByTimeAsync(ASK_EVERY_MS)
  expect(sweepOrphans).not.toHaveBeenCalled()
  expect(end).toHaveBeenLastCalledWith({ orphans: false })
  claim.mockResolvedValueOnce({ ...CLAIMED, orphansAreDue: true })
  await vi.advanceTimersByTimeAsync(ASK_EVERY_MS)
  expect(sweepOrphans).toHaveBeenCalledTimes(1)
  expect(end).toHaveBeenLastCalledWith({ orphans: true })
})

test('stopping takes effect at once, even during a round', async () => {
  prune.mockImplementation(async () => {
    maintenance.stop()
    return 5_000
  })
  await vi.advanceTimersByTimeAsync(3 * ASK_EVERY_MS)
  expect(prune).toHaveBeenCalledTimes(1)
  expect(verify).not.toHaveBeenCalled()
})
