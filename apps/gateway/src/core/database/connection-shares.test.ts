import pg from 'pg'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { isConnectionError } from '#core/base/errors/connection-error.ts'
import { type ConnectionShare, ConnectionShares } from './connection-shares.ts'
import { wasNeverSent } from './never-sent.ts'

const WAIT_MS = 2_000

/** A pool that gives away connections without a server, and counts them. */
class CountingPool extends pg.Pool {
  open = 0

  override async connect(): Promise<pg.PoolClient> {
    this.open += 1
    return Object.assign(new pg.Client(), {
      release: () => {
        this.open -= 1
      },
    })
  }
}

let pool: CountingPool
let shares: ConnectionShares

beforeEach(() => {
  vi.useFakeTimers()
  pool = new CountingPool({ max: 3 })
  shares = new ConnectionShares(pool, WAIT_MS, () => Date.now())
})
afterEach(() => {
  vi.useRealTimers()
})

const take = (share: ConnectionShare) => share.pool.connect()
const stateOf = async (taking: Promise<unknown>) => {
  let state = 'waits'
  taking.then(
    () => {
      state = 'has one'
    },
    () => undefined,
  )
  await vi.advanceTimersByTimeAsync(0)
  return state
}

test('a kind of work takes at most its share, so that the others have the rest', async () => {
  const [reports, logins] = [shares.share(2), shares.share(2)]
  await Promise.all([take(reports), take(reports)])
  expect(await stateOf(take(reports))).toBe('waits')
  expect(await stateOf(take(logins))).toBe('has one')
  expect(await stateOf(take(logins))).toBe('waits')
  expect(pool.open).toBe(3)
  expect(reports.state()).toEqual({ inUse: 2, waiting: 1, refused: 0 })
})

test('a connection that becomes free goes to whoever has waited longest and may have it', async () => {
  const [reports, logins] = [shares.share(1), shares.share(2)]
  const [report, login] = await Promise.all([take(reports), take(logins), take(logins)])
  const nextReport = take(reports)
  const nextLogin = take(logins)
  login.release()
  expect(await stateOf(nextLogin)).toBe('has one')
  expect(await stateOf(nextReport)).toBe('waits')
  report.release()
  expect(await stateOf(nextReport)).toBe('has one')
  expect(pool.open).toBe(3)
})

test('who gets none in time is refused like by a server without connections, and nothing was sent', async () => {
  const logins = shares.share(1)
  const held = await take(logins)
  const refusal = expect(take(logins)).rejects.toSatisfy(
    (error) => isConnectionError(error) && wasNeverSent(error),
  )
  await vi.advanceTimersByTimeAsync(WAIT_MS)
  await refusal
  expect(logins.state()).toEqual({ inUse: 1, waiting: 0, refused: 1 })
  held.release()
  expect(await stateOf(take(logins))).toBe('has one')
})

test('where no connection has changed hands for half a second, whoever comes is refused at once', async () => {
  const logins = shares.share(1)
  const held = await take(logins)
  await vi.advanceTimersByTimeAsync(499)
  const inTime = take(logins)
  expect(await stateOf(inTime)).toBe('waits')
  await vi.advanceTimersByTimeAsync(1)
  await expect(take(logins)).rejects.toMatchObject({ code: '53300' })
  held.release()
  expect(await stateOf(inTime)).toBe('has one')
  expect(await stateOf(take(logins))).toBe('waits')
})

test('a connection that cannot be opened gives its place back', async () => {
  const logins = shares.share(1)
  vi.spyOn(pool, 'connect').mockRejectedValueOnce(new Error('refused'))
  await expect(take(logins)).rejects.toThrow('refused')
  expect(await stateOf(take(logins))).toBe('has one')
})
