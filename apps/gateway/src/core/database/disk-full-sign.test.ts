import { expect, test } from 'vitest'
import { isConnectionError, isDiskFull, isLostConnection } from '#core/errors/connection-error.ts'
import { createDiskFullSign } from './disk-full-sign.ts'

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
  const sign = createDiskFullSign({ elapsedMs: () => nowMs }, (isFull) => changes.push(isFull))
  sign.failed(new Error('other'))
  expect(sign.isFull).toBe(false)
  sign.failed(FULL)
  sign.failed(FULL)
  expect(sign.isFull).toBe(true)
  sign.written()
  expect([sign.isFull, changes]).toEqual([false, [true, false]])
  sign.failed(FULL)
  nowMs += 9_999
  expect(sign.isFull).toBe(true)
  nowMs += 1
  expect(sign.isFull).toBe(false)
})
