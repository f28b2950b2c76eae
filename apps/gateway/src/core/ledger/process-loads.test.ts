import { expect, test, vi } from 'vitest'
import type { AgentLoad, ProcessLoad } from '#core/agents/deployments/load.ts'
import { createProcessLoads } from './process-loads.ts'

const loadOf = (inFlight: number): AgentLoad[] => [{ agent: 'dify', inFlight, waiting: 0, deployments: [] }]
const where = { host: 'a-host', pid: 7, version: '1.0.0' }
const own = (inFlight: number) => ({ instance: 'own', ...where, agents: loadOf(inFlight) })
const other: ProcessLoad = { instance: 'other', ...where, agents: loadOf(40) }

function loadsOf(read: () => Promise<ProcessLoad[]>, { hasJoined = true } = {}) {
  const state = { inFlight: 1, elapsedMs: 0 }
  const statement = vi.fn(read)
  const loads = createProcessLoads({
    instances: { loads: statement, hasJoined },
    identity: { id: 'own', ...where },
    load: { load: () => loadOf(state.inFlight) },
    runtime: { elapsedMs: () => state.elapsedMs },
  })
  return { loads, state, statement }
}

test('the process knows itself as of now, and the others from one statement in five seconds', async () => {
  // Its own row is as old as its last heartbeat.
  const { loads, state, statement } = loadsOf(async () => [own(99), other])
  expect(await Promise.all([loads.read(), loads.read()])).toEqual([
    [own(1), other],
    [own(1), other],
  ])
  state.inFlight = 2
  state.elapsedMs = 4_999
  expect(await loads.read()).toEqual([own(2), other])
  expect(statement).toHaveBeenCalledTimes(1)
  state.elapsedMs = 5_000
  await loads.read()
  expect(statement).toHaveBeenCalledTimes(2)
})

test('without a database the process knows itself, and asks no more often', async () => {
  const { loads, statement } = loadsOf(() => Promise.reject(new Error('no database')))
  expect(await loads.read()).toEqual([own(1)])
  expect(await loads.read()).toEqual([own(1)])
  expect(statement).toHaveBeenCalledTimes(1)
})

test('a database that hangs is waited for a second', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setImmediate'] })
  try {
    const { loads } = loadsOf(() => new Promise(() => undefined))
    const reading = loads.read()
    await vi.advanceTimersByTimeAsync(1_001)
    expect(await reading).toEqual([own(1)])
  } finally {
    vi.useRealTimers()
  }
})

test('the process of a command is not among those that serve', async () => {
  const { loads } = loadsOf(async () => [other], { hasJoined: false })
  expect(await loads.read()).toEqual([other])
})
