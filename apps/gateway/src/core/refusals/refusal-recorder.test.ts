import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type ErrorReason, Problem } from '#core/base/errors/errors.ts'
import type { LimitName } from '#core/base/errors/limit-names.ts'
import { systemRuntime } from '#core/base/runtime.ts'
import {
  COUNTS_MAX,
  createRefusalRecorder,
  GATHER_MS,
  plainField,
  type RefusalRecorder,
  type RefusedRequest,
  SINGLES_MAX,
  WRITE_EVERY_MS,
} from './refusal-recorder.ts'

const KEY = { keyId: 'key-1', ownerId: 'owner-1' }
const runtime = {
  now: () => new Date(Date.now()),
  elapsedMs: () => Date.now(),
  newId: systemRuntime.newId,
}
const query = vi.fn<(text: string, values?: readonly unknown[]) => Promise<never[]>>()
const dropped = vi.fn()
const recordable = vi.fn()
let space: { isLow: boolean }
let recorder: RefusalRecorder

beforeEach(() => {
  vi.useFakeTimers({ now: new Date('2026-11-20T08:30:30Z') })
  vi.clearAllMocks()
  query.mockResolvedValue([])
  space = { isLow: false }
  recorder = createRefusalRecorder({
    sql: { query: (text, values) => query(text, values) },
    runtime,
    get space() {
      return space
    },
    isAgent: (id) => id === 'dify',
    identityOf: () => undefined,
    observer: { dropped, recordable },
  })
})
afterEach(() => vi.useRealTimers())

function refusal(reason: ErrorReason = 'rate_limited', more: Partial<RefusedRequest> = {}): RefusedRequest {
  const limit: LimitName | undefined = reason === 'rate_limited' ? 'chat' : undefined
  const problem = new Problem(reason, { limit })
  return { requestId: 'r', face: 'rest', route: '/api/v1/chat', requester: KEY, problem, ...more }
}

interface Written {
  readonly counts: readonly Record<string, unknown>[]
  readonly singles: readonly Record<string, unknown>[]
}

function written(call = 0): Written {
  const [counts, singles] = query.mock.calls[call]?.[1] ?? []
  return { counts: JSON.parse(String(counts)), singles: JSON.parse(String(singles)) }
}

const afterGathering = () => vi.advanceTimersByTimeAsync(GATHER_MS)
const afterPause = () => vi.advanceTimersByTimeAsync(WRITE_EVERY_MS)
const droppedOf = (kind: string) =>
  dropped.mock.calls.reduce((sum, [of, refusals]) => (of === kind ? sum + refusals : sum), 0)

describe('what is written', () => {
  test('equal refusals of a minute are one count, and each is a single one', async () => {
    recorder.record(refusal('rate_limited', { requestId: 'one', keyPrefix: 'tl_1', field: 'body.query' }))
    recorder.record(refusal('rate_limited', { requestId: 'two' }))
    await afterGathering()
    expect(query).toHaveBeenCalledTimes(1)
    const { counts, singles } = written()
    const named = { key_id: 'key-1', owner_id: 'owner-1', agent: '', reason: 'rate_limited', limit: 'chat' }
    expect(counts).toEqual([{ ...named, minute: '2026-11-20T08:30:00.000Z', count: 2 }])
    const common = { ...named, credential: 'key:key-1', face: 'rest', route: '/api/v1/chat', status: 429 }
    const at = '2026-11-20T08:30:30.000Z'
    expect(singles).toEqual([
      { ...common, id: expect.any(String), request_id: 'one', at, key_prefix: 'tl_1', field: 'body.query' },
      { ...common, id: expect.any(String), request_id: 'two', at, key_prefix: '' },
    ])
  })

  test('what a rate limit allows and whose it is, also after a face has named the field', async () => {
    const reached = { points: 60, windowSeconds: 10, of: 'key' } as const
    const problem = new Problem('rate_limited', { limit: 'chat', reached }).at(['query']).with([])
    recorder.record(refusal('rate_limited', { problem }))
    await afterGathering()
    expect(written().singles).toMatchObject([
      { limit: 'chat', limit_points: 60, limit_window_seconds: 10, limit_of: 'key' },
    ])
  })

  test('of unknown credentials the reason is counted, and nothing else', async () => {
    recorder.record(refusal('key_unknown', { requester: { agent: 'dify' }, field: 'body.query' }))
    await afterGathering()
    const { counts, singles } = written()
    expect(counts).toMatchObject([{ key_id: '', owner_id: '', agent: '', reason: 'key_unknown', limit: '' }])
    expect(singles).toEqual([])
  })

  test.each([
    ['dify', 'dify'],
    [' DIFY/app', 'dify'],
    ['nobody', 'other'],
    ['n'.repeat(100_000), 'other'],
    ['', ''],
    [undefined, ''],
  ])('of the agent that was named, its id alone is recorded: case %#', async (agent, recorded) => {
    recorder.record(refusal('agent_denied', { requester: { ...KEY, agent } }))
    await afterGathering()
    expect(written().counts).toMatchObject([{ agent: recorded }])
  })

  test.each<[ErrorReason, boolean]>([
    ['invalid_request', true],
    ['key_revoked', true],
    ['agent_denied', true],
    ['model_not_found', true],
    ['conversation_not_found', true],
    ['conversation_busy', true],
    ['body_too_large', true],
    ['unsupported_media_type', true],
    ['idempotency_mismatch', true],
    ['quota_exceeded', true],
    ['unavailable', true],
    ['agent_overloaded', true],
    ['user_not_found', false],
    ['route_not_found', false],
    ['reply_gone', false],
    ['agent_error', false],
    ['internal_error', false],
  ])('a problem with the reason %s is a refusal: %s', async (reason, isRefusal) => {
    recorder.record(refusal(reason))
    await afterGathering()
    expect(query).toHaveBeenCalledTimes(isRefusal ? 1 : 0)
  })

  test.each([
    ['body.messages[3].content[0].text', 'body.messages[3].content[0].text'],
    ['headers.agent', 'headers.agent'],
    ['body.please tell me', 'body.*'],
    ['body.\0', 'body.*'],
    [`body.${'x'.repeat(1_000)}`, 'body.*'],
    // An API key.
    [`body.tl_${'x'.repeat(49)}`, 'body.*'],
    [undefined, undefined],
  ])('of the name of a field the record has what is plain: case %#', (field, recorded) => {
    expect(plainField(field)).toBe(recorded)
  })
})

describe('when it is written', () => {
  test('what is refused within the pause after a statement waits for the next one', async () => {
    recorder.record(refusal())
    await afterGathering()
    for (let second = 0; second < 4; second += 1) {
      recorder.record(refusal())
      await vi.advanceTimersByTimeAsync(1_000)
    }
    expect(query).toHaveBeenCalledTimes(1)
    await vi.advanceTimersByTimeAsync(1_000)
    expect(query).toHaveBeenCalledTimes(2)
    expect(written(1).counts).toMatchObject([{ count: 4 }])
    await vi.advanceTimersByTimeAsync(60_000)
    expect(query).toHaveBeenCalledTimes(2)
  })

  test('while the database hangs there is one statement, whatever is refused', async () => {
    const hanging = Promise.withResolvers<never[]>()
    query.mockReturnValueOnce(hanging.promise)
    recorder.record(refusal())
    for (let minute = 0; minute < 10; minute += 1) {
      await vi.advanceTimersByTimeAsync(60_000)
      recorder.record(refusal())
    }
    expect(query).toHaveBeenCalledTimes(1)
    hanging.resolve([])
    await afterPause()
    expect(query).toHaveBeenCalledTimes(2)
    expect(written(1).counts).toHaveLength(10)
  })

  test('what cannot be written is dropped and counted, once, and later refusals are written', async () => {
    query.mockRejectedValueOnce(new Error('down'))
    recorder.record(refusal())
    recorder.record(refusal())
    await afterGathering()
    expect(droppedOf('count')).toBe(2)
    expect(droppedOf('single')).toBe(2)
    expect(recordable).toHaveBeenCalledWith(false, expect.objectContaining({ message: 'down' }))
    recorder.record(refusal())
    await afterPause()
    expect(written(1).counts).toMatchObject([{ count: 1 }])
    expect(recordable).toHaveBeenLastCalledWith(true, undefined)
  })

  test('on a full disk nothing is written; what fits waits until there is room', async () => {
    space.isLow = true
    recorder.record(refusal())
    await vi.advanceTimersByTimeAsync(60_000)
    expect(query).not.toHaveBeenCalled()
    space.isLow = false
    await afterPause()
    expect(query).toHaveBeenCalledTimes(1)
  })
})

describe('bounds', () => {
  test('further counters are dropped and counted, and known ones go on', async () => {
    const ofAny = refusal()
    const refuse = (keyId: string) => recorder.record({ ...ofAny, requester: { keyId, ownerId: 'owner' } })
    for (let n = 0; n < COUNTS_MAX + 5; n += 1) refuse(`key-${n}`)
    refuse('key-0')
    expect(droppedOf('count')).toBe(5)
    expect(droppedOf('single')).toBe(COUNTS_MAX + 5 - SINGLES_MAX + 1)
    await afterGathering()
    const { counts, singles } = written()
    expect(counts).toHaveLength(COUNTS_MAX)
    expect(counts[0]).toMatchObject({ key_id: 'key-0', count: 2 })
    expect(singles).toHaveLength(SINGLES_MAX)
  })

  test('one caller with any agents and fields takes one counter and 20 single ones', async () => {
    const ofAny = refusal('invalid_request')
    for (let n = 0; n < 5_000; n += 1)
      recorder.record({ ...ofAny, field: `body.f${n}`, requester: { ...KEY, agent: `agent-${n}` } })
    await afterGathering()
    const { counts, singles } = written()
    expect(counts).toMatchObject([{ agent: 'other', count: 5_000 }])
    expect(singles).toHaveLength(20)
    expect(dropped).not.toHaveBeenCalled()
  })
})

describe('a recorder that ends', () => {
  test('writes what is left', async () => {
    recorder.record(refusal())
    await recorder.close(1_000)
    expect(written().counts).toHaveLength(1)
    expect(dropped).not.toHaveBeenCalled()
    recorder.record(refusal())
    expect(droppedOf('count')).toBe(1)
    expect(vi.getTimerCount()).toBe(0)
  })

  test('waits for a database that hangs no longer than it may, and counts what is left', async () => {
    query.mockReturnValue(new Promise(() => undefined))
    recorder.record(refusal())
    await afterGathering()
    recorder.record(refusal())
    const closing = recorder.close(1_000)
    await vi.advanceTimersByTimeAsync(1_001)
    await closing
    expect(query).toHaveBeenCalledTimes(1)
    expect(droppedOf('count')).toBe(1)
  })
})
