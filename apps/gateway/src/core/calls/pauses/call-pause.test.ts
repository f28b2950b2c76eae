import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Pause } from '#core/agents/pause.ts'
import type { Route } from '#core/calls/routing/route.ts'
import { CallPause } from './call-pause.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const HOLDER = { callId: 'call', ownerId: 'owner', endUser: '', agent: 'dify', app: '', conversation: 'c' }
const PAUSE: Pause = {
  question: 'Sure?',
  options: [],
  fields: [],
  takesText: true,
  resume: { token: 'secret' },
}
const ROUTE = { deployment: { id: 'main', state: 'main' } } as Route

/** The pauses of a call, on a database that does not answer the first times. */
function pausesOf(failures: number, hasClaim = true) {
  const done: string[] = []
  let left = failures
  const say = async (what: string) => {
    if (left-- > 0) throw new Error('away')
    done.push(what)
  }
  const pauses = { keep: () => say('kept'), endClaim: (_call: string, as: string) => say(as) }
  return { done, pause: new CallPause(pauses, HOLDER, hasClaim) }
}

test('the pause is offered by the id of its call, without what is for the platform alone', async () => {
  const { pause } = pausesOf(0)
  expect(await pause.keep([PAUSE], {}, ROUTE)).toEqual({
    id: 'call',
    question: 'Sure?',
    options: [],
    fields: [],
  })
  // The claim went with it.
  expect(pause.endClaim('over')).toBeUndefined()
})

test('a pause is kept at the second try, and not offered if it could not be kept', async () => {
  expect(await pausesOf(1).pause.keep([PAUSE], {}, ROUTE)).toMatchObject({ id: 'call' })
  await expect(pausesOf(2).pause.keep([PAUSE], {}, ROUTE)).rejects.toThrow('away')
})

test('a claim is ended once, and again and again while the database is away, for which nobody waits', async () => {
  const { pause, done } = pausesOf(3)
  await pause.endClaim('open')
  expect([done, pause.endClaim('over')]).toEqual([[], undefined])
  await vi.advanceTimersByTimeAsync(15_000)
  expect(done).toEqual(['open'])
})

test('a call without a claim ends none', () => {
  expect(pausesOf(0, false).pause.endClaim('open')).toBeUndefined()
})
