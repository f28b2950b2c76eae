import { expect, test } from 'vitest'
import { agentOf } from '#core/agents/transcripts.test-support.ts'
import { createPools } from './pools.ts'

const HOUR_MS = 3_600_000

test('agents share a pool if their connections are made in the same way', async () => {
  const pools = createPools()
  const agent = agentOf('dify')
  const pool = pools.of(agent)
  expect(pools.of(agentOf('dify', { apiKey: 'another' }))).toBe(pool)
  const connection = { names: 'dns' } as const
  for (const other of [
    agentOf('dify', { timeouts: { ...agent.timeouts, connectMs: 2 } }),
    agentOf('dify', { connection: { names: 'system' } }),
    agentOf('dify', { connection: { ...connection, proxy: 'http://proxy.invalid' } }),
  ]) {
    expect(pools.of(other)).not.toBe(pool)
  }
  await pools.destroy()
})

test('a pool that no agent uses for an hour is closed when another is made, and made again when it is needed', async () => {
  let nowMs = 0
  const pools = createPools({}, () => nowMs)
  const rare = agentOf('dify')
  const usual = agentOf('dify', { connection: { names: 'system' } })
  const before = pools.of(rare)
  const inUse = pools.of(usual)
  nowMs += HOUR_MS
  pools.of(usual)
  pools.of(agentOf('dify', { connection: { names: 'dns', proxy: 'http://proxy.invalid' } }))
  expect(pools.of(usual)).toBe(inUse)
  expect(pools.of(rare)).not.toBe(before)
  expect([Reflect.get(before, 'closed'), Reflect.get(inUse, 'closed')]).toEqual([true, false])
  await pools.destroy()
})
