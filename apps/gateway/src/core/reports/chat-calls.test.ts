import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { SettlementWaits } from '#core/ledger/settlement/settlement-waits.ts'
import type { Principal } from '#core/requests/principal.ts'
import type { Call } from '#generated/prisma/client.ts'
import { type CallerLookUp, createChatCalls } from './chat-calls.ts'

const RUNNING = { id: 'the call', outcome: null } as unknown as Call
const ENDED = { ...RUNNING, outcome: 'done' } as Call
const asCaller = async () => ({}) as Principal

/** Reads give these rows, one after the other, and the last one from then on; without rows they hang. */
function readerOf(...rows: (Call | null)[]) {
  const waits = new SettlementWaits()
  const findCall = vi.fn((..._asked: unknown[]): Promise<Call | null> => {
    const row = rows.length > 1 ? rows.shift() : rows[0]
    return row === undefined ? new Promise(() => undefined) : Promise.resolve(row)
  })
  const chatCalls = createChatCalls({
    calls: {
      findMany: async (caller, [id = ''], query) => {
        const call = await findCall(caller, id, query)
        return call === null ? [] : [call]
      },
    },
    ledger: { awaitSettlement: (id) => waits.begin(id) },
  })
  return { waits, findCall, ...chatCalls }
}

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

describe('the call of a reply that has ended', () => {
  test('is read again when its settlement has been written', async () => {
    const { waits, findCall, findSettled } = readerOf(RUNNING, ENDED)
    const found = findSettled(asCaller, 'the call')
    await vi.advanceTimersByTimeAsync(0)
    expect(findCall).toHaveBeenCalledTimes(1)
    waits.end('another call')
    waits.end('the call')
    expect(await found).toBe(ENDED)
    expect(vi.getTimerCount()).toBe(0)
  })

  test('is read once if its settlement had been written before', async () => {
    const { findCall, findSettled } = readerOf(ENDED)
    expect(await findSettled(asCaller, 'the call')).toBe(ENDED)
    expect(findCall).toHaveBeenCalledTimes(1)
  })

  test('is not missed if its settlement is written while it is read', async () => {
    const { waits, findCall, findSettled } = readerOf(ENDED)
    const { promise: read, resolve } = Promise.withResolvers<Call>()
    findCall.mockReturnValueOnce(read)
    const found = findSettled(asCaller, 'the call')
    await vi.advanceTimersByTimeAsync(0)
    waits.end('the call')
    resolve(RUNNING)
    expect(await found).toBe(ENDED)
    expect(findCall).toHaveBeenCalledTimes(2)
  })

  test('is shown as it stands if its settlement is not written within two seconds', async () => {
    const { findSettled } = readerOf(RUNNING)
    const found = findSettled(asCaller, 'the call')
    await vi.advanceTimersByTimeAsync(2_001)
    expect(await found).toBe(RUNNING)
  })

  test('is shown as it was read before if the database hangs afterwards', async () => {
    const { waits, findCall, findSettled } = readerOf()
    findCall.mockResolvedValueOnce(RUNNING)
    const found = findSettled(asCaller, 'the call')
    await vi.advanceTimersByTimeAsync(1_500)
    waits.end('the call')
    await vi.advanceTimersByTimeAsync(501)
    expect(await found).toBe(RUNNING)
  })

  test('asks for its outcome beside the columns that are selected', async () => {
    const { findCall, findSettled } = readerOf(ENDED)
    await findSettled(asCaller, 'the call', { select: { model: true } })
    expect(findCall).toHaveBeenCalledWith({}, 'the call', { select: { model: true, outcome: true } })
  })

  test('rejects if the caller is refused', async () => {
    const refused = new Error('refused')
    const { findSettled } = readerOf(ENDED)
    await expect(findSettled(() => Promise.reject(refused), 'the call')).rejects.toBe(refused)
  })
})

describe.each(['findRunning', 'findSettled'] as const)('%s', (name) => {
  test('gives null within two seconds if the database hangs', async () => {
    const found = readerOf()[name](asCaller, 'the call')
    await vi.advanceTimersByTimeAsync(2_001)
    expect(await found).toBeNull()
  })

  test('gives null within two seconds if the look-up of the caller hangs', async () => {
    const hanging: CallerLookUp = () => new Promise(() => undefined)
    const found = readerOf(ENDED)[name](hanging, 'the call')
    await vi.advanceTimersByTimeAsync(2_001)
    expect(await found).toBeNull()
  })

  test('gives null for a call that is not there', async () => {
    expect(await readerOf(null)[name](asCaller, 'the call')).toBeNull()
  })
})
