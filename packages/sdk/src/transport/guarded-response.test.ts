import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { AbortError, ConnectionError, IdleTimeoutError } from '../errors.ts'
import { guardedResponse } from './guarded-response.ts'
import { openBody, settle } from './open-body.test-support.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

test('a body is passed on as it arrives, without the headers of its form on the wire', async () => {
  const body = openBody('one ', 'two')
  body.close()
  const wire = body.answer()
  wire.headers.set('content-encoding', 'gzip')
  wire.headers.set('x-request-id', 'r-1')
  const response = guardedResponse(wire, {})
  expect(Object.fromEntries(response.headers)).toEqual({
    'content-type': 'text/event-stream',
    'x-request-id': 'r-1',
  })
  expect(await response.text()).toBe('one two')
  expect(vi.getTimerCount()).toBe(0)
})

test('silence, an abort and a broken connection are errors of the SDK', async () => {
  const silent = openBody('one')
  const idle = expect(guardedResponse(silent.answer(), { idleTimeoutMs: 1000 }).text()).rejects.toThrow(
    IdleTimeoutError,
  )
  await settle()
  await vi.advanceTimersByTimeAsync(1000)
  await idle
  expect(silent.cancelled).toHaveBeenCalled()

  const left = openBody('one')
  const controller = new AbortController()
  const aborted = expect(
    guardedResponse(left.answer(), { signal: controller.signal }).text(),
  ).rejects.toMatchObject({ constructor: AbortError, cause: 'enough' })
  await settle()
  controller.abort('enough')
  await aborted
  expect(left.cancelled).toHaveBeenCalled()

  const cut = openBody('one')
  const cause = new TypeError('terminated')
  const broken = expect(guardedResponse(cut.answer(), {}).text()).rejects.toMatchObject({
    constructor: ConnectionError,
    cause,
  })
  await settle()
  cut.fail(cause)
  await broken
  expect(vi.getTimerCount()).toBe(0)
})

test('a body that is cancelled cancels the request, and a reader that is slow itself is not idle', async () => {
  const body = openBody('one', 'two')
  const reader = guardedResponse(body.answer(), { idleTimeoutMs: 10 }).body?.getReader()
  await reader?.read()
  await vi.advanceTimersByTimeAsync(1000)
  expect((await reader?.read())?.done).toBe(false)
  await reader?.cancel()
  expect(body.cancelled).toHaveBeenCalled()
  expect(vi.getTimerCount()).toBe(0)
})
