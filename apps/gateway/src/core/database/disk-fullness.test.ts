import { expect, test } from 'vitest'
import { isConnectionError, isDiskFull, isLostConnection } from '#core/errors/connection-error.ts'
import { createDiskFullness } from './disk-fullness.ts'

const FULL = Object.assign(new Error('could not extend file'), { code: '53100' })

test('a full disk is no lost connection, also where Prisma reports it', () => {
  const byPrisma = Object.assign(new Error('in Prisma'), {
    code: 'P2010',
    meta: { driverAdapterError: { cause: { kind: 'postgres', originalCode: '53100', code: '53100' } } },
  })
  for (const error of [FULL, byPrisma]) {
    expect([isDiskFull(error), isConnectionError(error), isLostConnection(error)]).toEqual([
      true,
      true,
      false,
    ])
  }
  const lost = Object.assign(new Error('reset'), { code: 'ECONNRESET' })
  expect([isDiskFull(lost), isLostConnection(lost)]).toEqual([false, true])
})

test('it is remembered until a write succeeds, or for some seconds without any', () => {
  let nowMs = 0
  const changes: boolean[] = []
  const fullness = createDiskFullness({ elapsedMs: () => nowMs }, (isFull) => changes.push(isFull))
  fullness.failed(new Error('other'))
  expect(fullness.isFull).toBe(false)
  fullness.failed(FULL)
  fullness.failed(FULL)
  expect(fullness.isFull).toBe(true)
  fullness.written()
  expect([fullness.isFull, changes]).toEqual([false, [true, false]])
  fullness.failed(FULL)
  nowMs += 9_999
  expect(fullness.isFull).toBe(true)
  nowMs += 1
  expect(fullness.isFull).toBe(false)
})
